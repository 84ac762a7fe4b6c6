/**
 * Decides what is done so that a node is where it can be, and runs, or does not, as it is wanted: a pure function of what is wanted, what was
 * observed, and the time. Nothing else in the controller starts, stops or moves a node without a request.
 *
 * The policy. A node leaves a slice that is lost for good, or that is drained or evicted, as soon as another compute has room for it. A node that was lost with its host, or whose host was booted again, runs again. One that its guest switched off, that its user
 * stopped, or whose emulator failed does not. Where a compute does not say how a run ended, one that was seen running ended by itself.
 * A machine that runs although it is not wanted is stopped only when it is known to be of an earlier start; otherwise it is wanted from then
 * on. Nothing is done on a compute that cannot be reached, nor on a slice that is about to end.
 */
import type { RunEnding } from '../../schema/node-runs.ts';
import type { WantedRun } from '../model/wanted.ts';

/**
 * Why nodes leave a compute. `lost`: nothing runs there and it does not return, so that they start from the last copies of their files.
 * `drained`: by a client. `evicted`: its engine takes its place, and they go to other slices only.
 */
export type LeaveReason = 'no' | 'lost' | 'drained' | 'evicted';

interface FailedAttempt {
  readonly reason: string;
  /** Number of consecutive failures. */
  readonly count: number;
  readonly notBefore: number;
}

/** Where a node is, and whether it can be elsewhere. */
export interface ObservedPlace {
  readonly isBusy: boolean;
  readonly reach: Observed['reach'];
  readonly leaving: LeaveReason;
  /** Another compute can take it now. */
  readonly hasRoom: boolean;
  /** The last attempt to move it away from this compute, under this lease. */
  readonly failedMove?: FailedAttempt | undefined;
  /** Whether it could not be made on its compute, which was busy, could not be reached, or had no space. */
  readonly isUnmade: boolean;
  /** The last attempt in this generation, at this compute, under this lease. */
  readonly failed?: FailedAttempt | undefined;
}

export interface Observed extends ObservedPlace {
  /** The node is stopped for a move, or is being moved. */
  readonly isBusy: boolean;
  /** `fenced`: a slice without a lease, of which nothing runs. `ending`: it was asked to end. */
  readonly reach: 'connected' | 'away' | 'ending' | 'fenced' | 'unregistered';
  readonly machine: 'stopped' | 'started' | 'suspended';
  /** A live move of it was begun, and not brought to its end. */
  readonly hasPendingMove: boolean;
  /** The compute says by which start a node runs, and how runs end. */
  readonly tellsRuns: boolean;
  /** Facts of the current or last run. `unknown`: the compute has not said. */
  readonly run: 'unknown' | { readonly generation?: number | undefined; readonly ending?: RunEnding | undefined };
  /** This server saw it run in this generation, at this compute, under this lease. */
  readonly wasSeenRunning: boolean;
}

export type Decision =
  | { readonly do: 'nothing' }
  /** A sentence for people says for what. `failed`: the last attempt; the next one follows at its `notBefore`. */
  | { readonly do: 'wait'; readonly why: string; readonly failed?: FailedAttempt }
  /** The compute is asked how its nodes run, and ran. */
  | { readonly do: 'list' }
  /** Brings a move to its end that was cut off: the machine runs where the log says, and nowhere else. */
  | { readonly do: 'settle' }
  /** Moves the node to another compute: with its files, or with the last copies of them. */
  | { readonly do: 'move'; readonly takeFiles: boolean }
  /** Makes the node on its compute. */
  | { readonly do: 'make' }
  | { readonly do: 'start' }
  | { readonly do: 'stop' }
  | { readonly do: 'want'; readonly run: WantedRun['run']; readonly by: 'adopted' | 'guest' };

const nothing: Decision = { do: 'nothing' };

const waits: { readonly [R in Exclude<Observed['reach'], 'connected'>]: string } = {
  away: 'It waits for its compute, which is not connected',
  ending: 'It waits for its slice, which is about to end, to be placed again',
  fenced: 'It waits for its slice, which has no lease',
  unregistered: 'It waits for its compute, which is not registered',
};

/** The first matching row wins. */
export function decide(wanted: WantedRun, observed: Observed, now: number): Decision {
  const place = decidePlace(observed, now);
  if (observed.hasPendingMove && observed.leaving !== 'lost' && !observed.isBusy) return decideSettling(observed, now);
  if (observed.leaving === 'lost' && place.do !== 'nothing') return place;
  const run = decideRun(wanted, observed, now);
  // A node that waits for a move runs where it is. A machine that is not wanted is stopped, or wanted from then on, before it is moved.
  if (place.do === 'move' && (wanted.run === 'running' || run.do === 'wait')) return place;
  return run.do === 'nothing' ? place : run;
}

/** Decides the place of a node of any kind, also of one that always runs. */
export function decidePlace(observed: ObservedPlace, now: number): Decision {
  const { isBusy, reach, leaving, hasRoom, failed, failedMove, isUnmade } = observed;
  if (isBusy) return nothing;
  if (leaving === 'no') {
    if (!isUnmade || reach !== 'connected') return nothing;
    return failed && now < failed.notBefore ? untilRetried(failed) : { do: 'make' };
  }
  const isThere = reach === 'connected' || reach === 'ending';
  if (leaving !== 'lost' && !isThere) return { do: 'wait', why: waits[reach === 'fenced' ? 'fenced' : 'away'] };
  if (!hasRoom)
    return {
      do: 'wait',
      why: `${leavingWhy[leaving]}, and no ${leaving === 'evicted' ? 'other slice' : 'compute'} has room for it`,
    };
  if (failedMove && now < failedMove.notBefore) return untilRetried(failedMove);
  return { do: 'move', takeFiles: leaving !== 'lost' };
}

const leavingWhy: { readonly [L in Exclude<LeaveReason, 'no'>]: string } = {
  lost: 'Its slice is lost',
  drained: 'Its slice is drained',
  evicted: 'Its slice has to end',
};

function decideSettling({ reach, failed }: Observed, now: number): Decision {
  if (reach !== 'connected' && reach !== 'ending') return { do: 'wait', why: waits[reach] };
  return failed && now < failed.notBefore ? untilRetried(failed) : { do: 'settle' };
}

function decideRun(wanted: WantedRun, observed: Observed, now: number): Decision {
  const { isBusy, reach, failed, machine } = observed;
  const isDue = (wanted.run === 'running') !== (machine !== 'stopped');
  if (isBusy || !isDue) return nothing;
  if (reach !== 'connected') return wanted.run === 'running' ? { do: 'wait', why: waits[reach] } : nothing;
  const needed = machine === 'stopped' ? decideStart(wanted, observed) : decideStop(wanted, observed);
  if (failed && now < failed.notBefore && needed.do !== 'want') return untilRetried(failed);
  return needed;
}

function untilRetried(failed: FailedAttempt): Decision {
  return { do: 'wait', why: failed.reason, failed };
}

/** Wanted running, and stopped. */
function decideStart({ generation }: WantedRun, { run, tellsRuns, wasSeenRunning }: Observed): Decision {
  if (run === 'unknown') {
    if (tellsRuns) return { do: 'list' };
    return wasSeenRunning ? endedByItself : { do: 'start' };
  }
  const { ending } = run;
  const isThisRun = run.generation === generation || (run.generation === undefined && wasSeenRunning);
  if (!isThisRun || ending === 'lost' || ending === 'asked') return { do: 'start' };
  if (ending !== undefined || !tellsRuns) return endedByItself;
  // A compute that knows of no run of it was made to forget it.
  return { do: run.generation === undefined ? 'start' : 'list' };
}

const endedByItself: Decision = { do: 'want', run: 'stopped', by: 'guest' };

/** Wanted stopped, and started or suspended. */
function decideStop(wanted: WantedRun, { run, tellsRuns }: Observed): Decision {
  if (run === 'unknown' && tellsRuns) return { do: 'list' };
  const generation = run === 'unknown' ? undefined : run.generation;
  return generation !== undefined && generation < wanted.generation
    ? { do: 'stop' }
    : { do: 'want', run: 'running', by: 'adopted' };
}
