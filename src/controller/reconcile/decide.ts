/**
 * Decides what is done so that a node runs, or does not, as it is wanted: a pure function of what is wanted, what was observed, and the
 * time. Nothing else in the controller starts or stops a node without a request.
 *
 * The policy. A node that was lost with its host, or whose host was booted again, runs again. One that its guest switched off, that its user
 * stopped, or whose emulator failed does not. Where a compute does not say how a run ended, one that was seen running ended by itself.
 * A machine that runs although it is not wanted is stopped only when it is known to be of an earlier start; otherwise it is wanted from then
 * on. Nothing is done on a compute that cannot be reached, nor on a slice that is about to end.
 */
import type { RunEnding } from '../../schema/node-runs.ts';
import type { WantedRun } from '../model/wanted.ts';

export interface Observed {
  /** It is stopped to be moved, or is being moved. */
  readonly isBusy: boolean;
  /** `fenced`: a slice without a lease, of which nothing runs. `ending`: it was asked to end. */
  readonly reach: 'connected' | 'away' | 'ending' | 'fenced' | 'unregistered';
  readonly machine: 'stopped' | 'started' | 'suspended';
  /** The compute says by which start a node runs, and how runs end. */
  readonly tellsRuns: boolean;
  /** Facts of the current or last run. `unknown`: the compute has not said. */
  readonly run: 'unknown' | { readonly generation?: number | undefined; readonly ending?: RunEnding | undefined };
  /** This server saw it run in this generation, at this compute, under this lease. */
  readonly wasSeenRunning: boolean;
  /** The last attempt in this generation, at this compute, under this lease. */
  readonly failed?: { readonly reason: string; readonly notBefore: number } | undefined;
}

export type Decision =
  | { readonly do: 'nothing' }
  /** A sentence for people says for what. `until`: the time of the next attempt. */
  | { readonly do: 'wait'; readonly why: string; readonly until?: number }
  /** The compute is asked how its nodes run, and ran. */
  | { readonly do: 'list' }
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
  const { isBusy, reach, failed, machine } = observed;
  const isDue = (wanted.run === 'running') !== (machine !== 'stopped');
  if (isBusy || !isDue) return nothing;
  if (reach !== 'connected') return wanted.run === 'running' ? { do: 'wait', why: waits[reach] } : nothing;
  const needed = machine === 'stopped' ? decideStart(wanted, observed) : decideStop(wanted, observed);
  if (failed && now < failed.notBefore && needed.do !== 'want') return { do: 'wait', why: failed.reason, until: failed.notBefore };
  return needed;
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
  if (ending === undefined) return tellsRuns ? { do: 'list' } : endedByItself;
  return endedByItself;
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
