import { fault } from '../../../api/faults.ts';
import type { ValueFault } from '../../../api/lax-values.ts';
import { printFaults } from '../../../api/python-text.ts';

/** Refuses a request for a value that only `/v3` refuses. @throws invalid_request */
export function refuseValue(found: ValueFault): never {
  throw fault('invalid_request', { reason: 'see faults' }, { extra: { faults: printFaults([found]) } });
}
