/** What is known of a node of an open project, in the form in which `decide` takes it. */
import type { RegisteredCompute } from '../computes/compute.ts';
import type { FailedStart, OpenNode, SeenRunning } from '../live/nodes/open-node.ts';
import type { Observed } from './decide.ts';

export function observe(node: OpenNode, isEnding: (compute: RegisteredCompute) => boolean): Observed {
  const { compute, live, run, failedStart: failed } = node;
  const ending = live.interrupted ? { ...run, ending: 'lost' as const } : run;
  return {
    isBusy: node.isLeaving || node.isMoving,
    reach: reachOf(compute, isEnding),
    machine: live.status,
    tellsRuns: compute?.hasNodeRuns === true,
    run: ending ?? 'unknown',
    wasSeenRunning: node.seen !== undefined && isOfNow(node, node.seen),
    failed: failed && isOfNow(node, failed) ? failed : undefined,
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
