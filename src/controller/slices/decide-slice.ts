/** Decides what an engine is asked about a slice: a pure function of what is stored of it and of what its engine reported last. */
import type { SliceReport } from '../engines/engine.ts';
import type { SliceEntry } from './slice-entry.ts';

export interface ObservedSlice {
  /** `unknown`: this server has no record of it, or the record of another engine's slice. */
  readonly state: SliceEntry['state'] | 'unknown';
  /** `none`: nothing was reported since it was placed last. `unlisted`: its engine does not have it. */
  readonly report: SliceReport['state'] | 'none' | 'unlisted';
  /** Whether its engine is being asked for a place. */
  readonly isPlacing: boolean;
  /** Whether it has a token for its next process, so that its engine was asked for a place since its lease ended. */
  readonly isInvited: boolean;
}

/**
 * `forget`: nothing of it is left. `fence`: nothing of it runs, so its lease is not waited for. `place`: it gets a place, again where its disks
 * are. `replace`: its earlier place is released first. `release`: of a record that this server lost, whose data is not its own to delete.
 * `remove`: it is released with its data.
 */
export type SliceDecision = 'nothing' | 'fence' | 'forget' | 'place' | 'release' | 'remove' | 'replace';

/** The first matching row wins. */
export function decideSlice({ state, report, isPlacing, isInvited }: ObservedSlice): SliceDecision {
  const hasEnded = report === 'ended' || report === 'unlisted';
  if (state === 'unknown') return hasEnded || report === 'none' ? 'nothing' : 'release';
  if (state === 'deleted') return hasEnded ? 'forget' : 'remove';
  if (isPlacing) return 'nothing';
  // An engine that was restored from an older state does not know what it runs: a lease says whether that still runs.
  if (state === 'joined') return report === 'ended' ? 'fence' : 'nothing';
  // A suspended slice keeps its place, and continues there or is reported as ended.
  if (report === 'suspended') return 'nothing';
  if (!isInvited || report === 'lost') return 'replace';
  return hasEnded ? 'place' : 'nothing';
}
