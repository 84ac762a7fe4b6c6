/** User and password go over plain HTTP only where the network is private: anywhere else each network between could read them. */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { fault } from '../../api/faults.ts';
import type { ComputeRecord } from './compute.ts';

const privateNetworks = new BlockList();
for (const [network, bits] of [
  ['127.0.0.0', 8],
  // RFC 1918, RFC 3927.
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const)
  privateNetworks.addSubnet(network, bits, 'ipv4');
privateNetworks.addAddress('::1', 'ipv6');
// RFC 4193, RFC 4291.
privateNetworks.addSubnet('fc00::', 7, 'ipv6');
privateNetworks.addSubnet('fe80::', 10, 'ipv6');

export function isPrivate(address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  return isIP(plain) !== 0 && privateNetworks.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
}

export type ClearRecord = Pick<ComputeRecord, 'name' | 'protocol' | 'host' | 'user'>;

export function goInClear({ protocol, user }: Pick<ComputeRecord, 'protocol' | 'user'>): boolean {
  return protocol === 'http' && user !== null && user !== '';
}

/** @throws `credentials_in_clear` when the host has an address that is not private; one that is unknown is looked at when it is connected */
export async function refuseClearCredentials(record: ClearRecord): Promise<void> {
  if (!goInClear(record)) return;
  // Both mean this machine.
  if (record.host === '0.0.0.0' || record.host === '::') return;
  const found = await lookup(record.host, { all: true }).catch(() => []);
  const open = found.find(({ address }) => !isPrivate(address));
  if (open) throw fault('credentials_in_clear', { name: record.name, address: open.address });
}
