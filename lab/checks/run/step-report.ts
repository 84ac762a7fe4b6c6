/** The report of a step. */
import type { StepChance } from '../chance/step-chance.ts';

export interface StepReport {
  readonly name: string;
  readonly verb: string;
  readonly node: string | undefined;
  /** Outcome; `error`: the step could not be carried out. */
  readonly outcome: 'passed' | 'failed' | 'error' | 'skipped';
  /** Time since the beginning of the test, ms. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly problems: readonly string[];
  /** Observed results, such as console output. */
  readonly evidence: string;
  readonly tries: number;
  readonly steps: readonly StepReport[];
  /** Present for a step whose result depends on chance, or may. */
  readonly chance?: StepChance;
  /** Present for a capture. */
  readonly capture?: { readonly pcap: Buffer; readonly packets: number };
}

/** Finds the innermost first step that did not pass. */
export function findFirstFailure(steps: readonly StepReport[]): StepReport | undefined {
  for (const step of steps) {
    const inner = findFirstFailure(step.steps);
    if (inner) return inner;
    if (step.outcome === 'failed' || step.outcome === 'error') return step;
  }
  return undefined;
}
