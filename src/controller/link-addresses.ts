/** Which addresses two computes reach each other at. */
import { fault } from '../api/faults.ts';
import type { Compute } from './compute.ts';
import type { Two } from './link.ts';

interface Interface {
  readonly ip_address: string;
  readonly netmask: string;
}

const loopback = '127.0.0.1';
const unusable = new Set(['0.0.0.0', '::', loopback, '::1', 'localhost']);

/** Address of each compute as the other one reaches it. @throws `link_no_common_network` */
export async function linkAddresses(one: Compute, other: Compute): Promise<Two<string>> {
  if (one === other) return [loopback, loopback];
  const hosts = [one.record.host, other.record.host] as const;
  if (!unusable.has(hosts[0]) && !unusable.has(hosts[1])) return hosts;
  const [ofOne, ofOther] = await Promise.all([interfacesOf(one), interfacesOf(other)]);
  for (const a of ofOne) {
    const b = ofOther.find((candidate) => a.ip_address !== candidate.ip_address && overlap(a, candidate));
    if (b) return [a.ip_address, b.ip_address];
  }
  throw fault('link_no_common_network', { one: one.record.name, other: other.record.name });
}

/** The compute's own address first. */
async function interfacesOf(compute: Compute): Promise<Interface[]> {
  const { body } = await compute.transport.call<Interface[]>('GET /v2/compute/network/interfaces');
  const usable = body.filter(
    ({ ip_address, netmask }) => ip_address !== '' && netmask !== '' && !ip_address.startsWith('169.254.'),
  );
  const isOwn = ({ ip_address }: Interface) => Number(ip_address !== compute.record.host);
  return usable.filter(({ ip_address }) => !unusable.has(ip_address)).sort((a, b) => isOwn(a) - isOwn(b));
}

function overlap(a: Interface, b: Interface): boolean {
  const mask = Math.min(number(a.netmask), number(b.netmask));
  return (number(a.ip_address) & mask) === (number(b.ip_address) & mask);
}

function number(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}
