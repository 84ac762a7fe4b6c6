/** User and password go over plain HTTP only where the network is private: anywhere else each network between could read them. */
import { lookup } from 'node:dns/promises';
import { fault } from '../../api/faults.ts';
import { isPrivate } from '../../lib/private-address.ts';
import type { ComputeRecord } from './compute.ts';

type ClearRecord = Pick<ComputeRecord, 'name' | 'protocol' | 'host' | 'user'>;

export function goInClear({ protocol, user }: Pick<ComputeRecord, 'protocol' | 'user'>): boolean {
  return protocol === 'http' && user !== null && user !== '';
}

/** @throws `credentials_in_clear` when the host has an address that is not private; one that is unknown is looked at when it is connected */
export async function refuseClearCredentials(record: ClearRecord): Promise<void> {
  if (!goInClear(record)) return;
  // The addresses 0.0.0.0 and :: mean this machine.
  if (record.host === '0.0.0.0' || record.host === '::') return;
  const found = await lookup(record.host, { all: true }).catch(() => []);
  const open = found.find(({ address }) => !isPrivate(address));
  if (open) throw fault('credentials_in_clear', { name: record.name, address: open.address });
}
