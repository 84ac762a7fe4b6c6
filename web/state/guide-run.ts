/** A run of the checks of a project's lab file. */
import type { LabCheckLine } from '../../src/schema/lab.ts';

export type CheckResult = NonNullable<LabCheckLine['check']>;

export interface GuideRun {
  readonly isRunning: boolean;
  /** Names of the steps, in their order. */
  readonly steps: readonly string[];
  /** Results so far, by the names of steps. */
  readonly results: ReadonlyMap<string, CheckResult>;
  readonly verdict?: LabCheckLine['verdict'];
  /** Why there is no verdict, or a void one. */
  readonly why?: string;
}

/** Returns the run after a line of the server. */
export function withLine(run: GuideRun, { checks, check, verdict, reasons = [], failure }: LabCheckLine): GuideRun {
  if (checks) return { ...run, steps: checks };
  if (check) return { ...run, results: new Map(run.results).set(check.name, check) };
  if (verdict) return { ...run, verdict, why: reasons.join(' ') };
  return failure === undefined ? run : { ...run, why: failure };
}
