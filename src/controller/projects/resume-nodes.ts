/** Starts the nodes that are to run again (`live/nodes/resume-list.ts`): when a project is opened, and when nodes have a place again. */
import { setTimeout as pause } from 'node:timers/promises';
import { isFault } from '../../api/faults.ts';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import { Retry } from '../../lib/retry.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { FailedStart, OpenNode } from '../live/nodes/open-node.ts';

export interface ResumeOptions {
  readonly isAllowed?: (node: OpenNode) => boolean;
  /** While its compute is busy or cannot be reached. Absent: for some 50 s. */
  readonly attempts?: number;
}

/** What a start fails with although the node is fine. */
const faultsOfCompute = ['compute_busy', 'compute_unreachable', 'compute_timeout'] as const;
const endKnownMs = 1_000;
/** After a start that fails otherwise on a slice, whose host may have taken on much at once; twice as long after each further one. */
const [firstPauseMs, longestPauseMs] = [2_000, 300_000];
/** Listeners are sent the reason then. */
const reportedFailure = 3;
/** Of a start on a slice whose lease is over: it is renewed, or the slice is lost. Some 50 s. */
const [retryTimes, mostAttempts] = [{ firstMs: 500, longestMs: 5_000 }, 12];

/**
 * When the project is opened. Links are held until all of them run: what one sends waits for the others, behind what was in flight when
 * the project was frozen. Listeners are sent what fails. Never rejects.
 */
export async function resumeNodes(live: LiveProject): Promise<void> {
  if ((await live.resumeList.all()).size === 0) return;
  const { transport } = live.computes.local;
  const path = { project_id: live.projectId };
  // Without a fabric they start all the same.
  await transport.send('POST /v2/compute/projects/{project_id}/links/hold', { path }).catch(() => undefined);
  await startAgain(live, { atOnce: concurrency }).catch(() => undefined);
  await transport.send('POST /v2/compute/projects/{project_id}/links/release', { path }).catch(() => undefined);
}

/**
 * Those that `isAllowed` allows, and whose compute is connected; the others stay in the list. Listeners are sent what fails.
 * @throws storage_failed
 */
export async function startAgain(live: LiveProject, { atOnce, ...how }: { atOnce: number } & ResumeOptions): Promise<void> {
  const done = new Map<string, number>();
  await forEachBounded(await live.resumeList.all(), atOnce, async ([nodeId, times]) => {
    if (await startNodeAgain(live, nodeId, how)) done.set(nodeId, times);
  });
  await live.resumeList.removeDone(done);
}

/** False: it cannot be started now. */
export async function startNodeAgain(
  live: LiveProject,
  nodeId: string,
  { isAllowed = () => true, attempts = mostAttempts }: ResumeOptions = {},
): Promise<boolean> {
  const node = live.nodes.find(nodeId);
  const canStart = () =>
    !node || (!node.compute?.isAwaited && (failureOf(node)?.notBefore ?? 0) <= performance.now() && isAllowed(node));
  const retry = new Retry(retryTimes);
  for (let attempt = 1; live.nodes.find(nodeId) === node && node; attempt++) {
    if (!canStart()) return false;
    const { compute } = node;
    const epoch = compute?.epoch;
    try {
      await live.nodes.startAgain(nodeId);
      if (node.failedStart) live.nodes.setProblem(node, { failedStart: undefined });
      return true;
    } catch (error) {
      const isOfCompute = faultsOfCompute.some((code) => isFault(error, code));
      // A slice that ends takes what starts there along: its end may be known a moment later.
      if (epoch && !isOfCompute) await pause(endKnownMs);
      // Its compute may have been lost meanwhile.
      if (!canStart() || node.compute !== compute || compute?.epoch !== epoch) return false;
      if (!isOfCompute) return hasFailed(live, node, (error as Error).message);
      if (attempt >= attempts) return false;
    }
    await retry.pause();
  }
  return true;
}

function failureOf({ failedStart, compute }: OpenNode): FailedStart | undefined {
  return failedStart?.compute === compute && failedStart?.epoch === compute?.epoch ? failedStart : undefined;
}

/** True: it stays stopped. One on a slice is tried again. */
function hasFailed(live: LiveProject, node: OpenNode, reason: string): boolean {
  const { compute, entry } = node;
  const epoch = compute?.epoch;
  const count = (failureOf(node)?.count ?? 0) + 1;
  if (!epoch || count === reportedFailure)
    live.notify('log.error', { message: `Node ${entry.name} could not be started again: ${reason}` });
  if (!epoch) return true;
  const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (count - 1));
  const notBefore = performance.now() + pauseMs;
  live.nodes.setProblem(node, { failedStart: { compute, epoch, count, notBefore, reason } });
  return false;
}
