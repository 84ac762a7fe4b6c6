/** TraceNG exists for Windows only. */
import { isIPv4 } from 'node:net';
import { fault } from '../../api/faults.ts';
import type { Properties } from '../driver.ts';
import type { StorageOnlyFacts } from '../storage-only/storage-only-driver.ts';
import { tracengKind } from './kind.ts';

export const tracengStorage: StorageOnlyFacts = {
  kind: tracengKind,
  defaults(given) {
    checkAddress(given);
    return { default_destination: '', ip_address: '' };
  },
  exception: 'TraceNGError',
  missing: 'TraceNG exists for Windows only. Use a VPCS node and its trace command instead',
};

function checkAddress({ ip_address }: Properties): void {
  if (typeof ip_address !== 'string' || ip_address === '' || isIPv4(ip_address)) return;
  throw fault('address_invalid', { address: ip_address });
}
