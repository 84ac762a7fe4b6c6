/** Stands between the reconciler and `decide`: notes what it was asked and has answered. */
import { type Decision, decide as real } from '../../../src/controller/reconcile/decide.ts';
import { isPlaying, simulation } from '../engine/simulation.ts';

export {
  type Decision,
  decidePlace,
  type LeaveReason,
  type Observed,
  type ObservedPlace,
} from '../../../src/controller/reconcile/decide.ts';

export function decide(...given: Parameters<typeof real>): Decision {
  const decision = real(...given);
  if (isPlaying()) simulation().decided(given[0], given[1], decision);
  return decision;
}
