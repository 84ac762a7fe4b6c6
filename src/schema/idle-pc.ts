/** Results of the search for idle-PC values. */
import { named } from './common.ts';
import { Type } from './type.ts';

/** The best value, such as `0x60200f3c`. */
export const IdlePc = Type.Object({ idlepc: Type.String() }, named('IdlePc'));

/** Values with how often each was seen, as in `0x60200f3c [40]`. */
export const IdlePcProposals = Type.Array(Type.String());
