/** What became of a step. */
import type { StepChance } from '../chance/step-chance.ts';

export interface StepReport {
  readonly name: string;
  readonly verb: string;
  readonly node: string | undefined;
  /** `error`: it could not be carried out. */
  readonly outcome: 'passed' | 'failed' | 'error' | 'skipped';
  /** Since the beginning of the test, ms. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly problems: readonly string[];
  /** What was seen. */
  readonly evidence: string;
  readonly tries: number;
  readonly steps: readonly StepReport[];
  /** Of a step whose result depends on chance, or may. */
  readonly chance?: StepChance;
  /** Of a capture. */
  readonly capture?: { readonly pcap: Buffer; readonly packets: number };
}

/** The first step that did not pass, the innermost one. */
export function findFirstFailure(steps: readonly StepReport[]): StepReport | undefined {
  for (const step of steps) {
    const inner = findFirstFailure(step.steps);
    if (inner) return inner;
    if (step.outcome === 'failed' || step.outcome === 'error') return step;
  }
  return undefined;
}
