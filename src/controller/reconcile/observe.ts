/** Observes a node of an open project, in the form that `decide` takes. */
import type { RegisteredCompute } from '../computes/compute.ts';
import type { OpenNode } from '../live/nodes/open-node.ts';
import type { FailedStart, SeenRunning } from '../live/nodes/waiting.ts';
import type { LeaveReason, Observed, ObservedPlace } from './decide.ts';

/** Facts about computes and about moves between them, for the reconciler. */
export interface ComputePlaces {
  /** The slice was asked to end: nothing is started there. */
  readonly isEnding: (compute: RegisteredCompute) => boolean;
  readonly leavingOf: (compute: RegisteredCompute) => LeaveReason;
  /** Whether another compute can take the node now. */
  readonly hasRoom: (node: OpenNode) => boolean;
}

export function observe(node: OpenNode, places: ComputePlaces): Observed {
  const { compute, live, run } = node;
  const ending = live.interrupted ? { ...run, ending: 'lost' as const } : run;
  return {
    ...observePlace(node, places),
    machine: live.status,
    hasPendingMove: node.wanted.move !== undefined,
    tellsRuns: compute?.hasNodeRuns === true,
    run: ending ?? 'unknown',
    wasSeenRunning: node.seen !== undefined && isOfNow(node, node.seen),
  };
}

export function observePlace(node: OpenNode, places: ComputePlaces): ObservedPlace {
  const { compute, failedMove, failedStart: failed, isUnmade } = node;
  const leaving = compute ? places.leavingOf(compute) : 'no';
  return {
    isBusy: node.isLeaving || node.isMoving,
    reach: reachOf(compute, places.isEnding),
    leaving,
    hasRoom: leaving !== 'no' && places.hasRoom(node),
    isUnmade,
    failed: failed && isOfNow(node, failed) ? failed : undefined,
    failedMove: failedMove?.compute === compute && failedMove?.epoch === compute?.epoch ? failedMove : undefined,
  };
}

/** Whether it is of what is wanted now, of the compute, and of its lease. */
export function isOfNow({ wanted, compute }: OpenNode, then: SeenRunning | FailedStart): boolean {
  return then.generation === wanted.generation && then.compute === compute && then.epoch === compute?.epoch;
}

function reachOf(compute: RegisteredCompute | undefined, isEnding: (compute: RegisteredCompute) => boolean): Observed['reach'] {
  if (!compute) return 'unregistered';
  if (compute.isFenced) return 'fenced';
  if (!compute.transport.state.connected) return 'away';
  return isEnding(compute) ? 'ending' : 'connected';
}
