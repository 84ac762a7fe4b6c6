/** Where QEMU and the fabric meet, one for each adapter: a Unix socket, or a pair of UDP ports with QEMU older than 7.2. */

import { fault } from '../../api/faults.ts';
import type { PortPool } from '../../lib/port-pool.ts';
import type { NodeView } from '../driver.ts';
import type { AdapterPort } from './adapters.ts';
import type { CheckedMachine } from './check-machine.ts';
import type { QemuFacilities } from './facilities.ts';
import { hasFeature } from './features.ts';
import { placesOf } from './places.ts';
import { udpPortsOf } from './record.ts';

/** A Unix socket's path, with its final NUL, has to fit into 108 bytes (unix(7)). */
const maxSocketPath = 107;

/** The caller frees them by `freePorts`. */
export async function takePorts(
  node: NodeView,
  { version, properties }: CheckedMachine,
  { host, datagrams }: QemuFacilities,
): Promise<AdapterPort[]> {
  const useStreams = hasFeature(version, 'streamNetdev') && !datagrams;
  return useStreams ? streamPorts(node, properties.adapters) : datagramPorts(host.udpPorts, properties.adapters);
}

export function freePorts(pool: PortPool, ports: readonly AdapterPort[]): void {
  for (const port of udpPortsOf(ports)) pool.release(port);
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
      freePorts(pool, ports);
      throw fault('ports_exhausted', { what: 'UDP', first: pool.range.first, last: pool.range.last });
    }
    ports.push({ type: 'udp', lport, rhost: '127.0.0.1', rport, bind: '127.0.0.1', strict: true });
  }
  return ports;
}
