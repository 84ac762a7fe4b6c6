/**
 * Where QEMU and the fabric meet, one for each adapter: a pair of TAP interfaces in the link namespace, where there can be none a Unix socket,
 * or a pair of UDP ports with QEMU older than 7.2.
 */

import { fault } from '../../api/faults.ts';
import type { PortPool } from '../../lib/port-pool.ts';
import type { NodeView } from '../driver.ts';
import type { Host } from '../host/host.ts';
import { makeMachineTaps, removeMachineTaps } from '../port-processes/machine-taps.ts';
import type { AdapterPort } from './adapters.ts';
import type { CheckedMachine } from './check-machine.ts';
import type { QemuFacilities } from './facilities.ts';
import { hasFeature } from './features.ts';
import { findOtherOption } from './memory/inspect.ts';
import { placesOf } from './places.ts';
import { udpPortsOf } from './record.ts';

/** A Unix socket's path, with its final NUL, has to fit into 108 bytes (unix(7)). */
const maxSocketPath = 107;

/** The caller frees them by `freePorts`. */
export async function takePorts(
  node: NodeView,
  checked: CheckedMachine,
  { host, datagrams }: QemuFacilities,
): Promise<AdapterPort[]> {
  const { adapters } = checked.properties;
  if (!hasFeature(checked.version, 'streamNetdev') || datagrams) return datagramPorts(host.udpPorts, adapters);
  return (await tapPorts(node, checked, host)) ?? streamPorts(node, adapters);
}

/** Never rejects. */
export async function freePorts(
  { udpPorts, linkNamespace }: Pick<Host, 'udpPorts' | 'linkNamespace'>,
  ports: readonly AdapterPort[],
): Promise<void> {
  for (const port of udpPortsOf(ports)) udpPorts.release(port);
  await removeMachineTaps(
    linkNamespace,
    ports.filter((port) => port.type === 'tap'),
  );
}

/** Undefined where there can be none. A machine whose options may open a port of the host stays in the host's network. */
async function tapPorts(
  node: NodeView,
  { properties, options, runAs }: CheckedMachine,
  { linkNamespace, log }: Host,
): Promise<AdapterPort[] | undefined> {
  if (properties.legacy_networking || findOtherOption(options) !== undefined) return undefined;
  if ((await linkNamespace.obstacle()) !== undefined) return undefined;
  // A server that is not root is the root of the namespace.
  const uid = Number(runAs?.uid ?? 0);
  const kernelPath = properties.kernel_path !== false;
  try {
    return await makeMachineTaps(linkNamespace, { count: properties.adapters, uid, kernelPath });
  } catch (error) {
    log('warning', `adapters of ${node.name} are slow: ${(error as Error).message}`);
    return undefined;
  }
}

function streamPorts(node: NodeView, count: number): AdapterPort[] {
  const places = placesOf(node);
  const longest = places.adapter(count);
  if (Buffer.byteLength(longest) > maxSocketPath) {
    throw fault('qemu_failed', { reason: `The path of the runtime folder is too long for sockets: ${node.runtimeDirectory}` });
  }
  return Array.from({ length: count }, (_, index) => ({ type: 'stream', path: places.adapter(index) }));
}

/** Pairs of ports on the loopback address: the fabric's and QEMU's. */
async function datagramPorts(pool: PortPool, count: number): Promise<AdapterPort[]> {
  const ports: AdapterPort[] = [];
  for (let index = 0; index < count; index++) {
    const lport = await pool.take();
    const rport = await pool.take();
    if (lport === undefined || rport === undefined) {
      if (lport !== undefined) pool.release(lport);
      for (const port of udpPortsOf(ports)) pool.release(port);
      throw fault('ports_exhausted', { what: 'UDP', first: pool.range.first, last: pool.range.last });
    }
    ports.push({ type: 'udp', lport, rhost: '127.0.0.1', rport, bind: '127.0.0.1', strict: true });
  }
  return ports;
}
