/** The ports of a running vpcs, taken from the compute's pools together or not at all. */
import { fault } from '../../api/faults.ts';
import type { PortPool } from '../../lib/port-pool.ts';
import type { Host } from '../host/host.ts';
import { relayOffset, type VpcsPorts } from './command.ts';

/** What a running vpcs has of the host's ports: with namespaces of its own only those of its link. */
export type HeldPorts = Omit<VpcsPorts, 'console'> & { readonly console?: number };

/** Both ends of its link. @throws `ports_exhausted` with nothing taken */
export async function takeLinkPorts(host: Host): Promise<HeldPorts> {
  const local = await takeOne(host.udpPorts, 'UDP');
  try {
    return { local, fabric: await takeOne(host.udpPorts, 'UDP') };
  } catch (error) {
    host.udpPorts.release(local);
    throw error;
  }
}

/** @throws `ports_exhausted` with nothing taken */
export async function takePorts(host: Host, withRelay: boolean): Promise<VpcsPorts> {
  const console = await takeOne(host.tcpPorts, 'console');
  const udp: number[] = [];
  try {
    const local = await takeLocal(host.udpPorts, withRelay, udp);
    const fabric = await takeOne(host.udpPorts, 'UDP');
    return { console, local, fabric, ...(withRelay && { relay: local + relayOffset }) };
  } catch (error) {
    host.tcpPorts.release(console);
    for (const port of udp) host.udpPorts.release(port);
    throw error;
  }
}

/** Notes the ports of a vpcs that runs already. */
export function retakePorts(host: Host, ports: HeldPorts): void {
  if (ports.console !== undefined) host.tcpPorts.reserve(ports.console);
  for (const port of udpPortsOf(ports)) host.udpPorts.reserve(port);
}

export function releasePorts(host: Host, ports: HeldPorts): void {
  if (ports.console !== undefined) host.tcpPorts.release(ports.console);
  for (const port of udpPortsOf(ports)) host.udpPorts.release(port);
}

function udpPortsOf({ local, fabric, relay }: HeldPorts): number[] {
  return relay === undefined ? [local, fabric] : [local, fabric, relay];
}

/**
 * The port on which vpcs listens. Where it opens its relay as well, that port must have no owner: a link's end that was promised
 * it and is not open yet would find it taken. What was taken is added to `taken`.
 */
async function takeLocal(pool: PortPool, withRelay: boolean, taken: number[]): Promise<number> {
  const passedOver: number[] = [];
  try {
    for (;;) {
      const local = await takeOne(pool, 'UDP');
      if (!withRelay || pool.reserve(local + relayOffset)) {
        taken.push(local, ...(withRelay ? [local + relayOffset] : []));
        return local;
      }
      passedOver.push(local);
    }
  } finally {
    for (const port of passedOver) pool.release(port);
  }
}

async function takeOne(pool: PortPool, what: string): Promise<number> {
  const port = await pool.take();
  if (port === undefined) throw fault('ports_exhausted', { what, first: pool.range.first, last: pool.range.last });
  return port;
}
