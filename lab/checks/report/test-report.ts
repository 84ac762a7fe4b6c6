/** The result of a test. */
import type { DialogueEntry } from '../console/dialogue.ts';
import type { Certificate } from '../fidelity/certificate.ts';
import type { ReadyNode } from '../run/readiness.ts';
import { findFirstFailure, type StepReport } from '../run/step-report.ts';

/** Verdict. `void`: the test proves nothing, because the emulation was not faithful or the test could not be completed. */
export type TestVerdict = 'passed' | 'failed' | 'void';

export interface TopologyPicture {
  readonly nodes: readonly { readonly name: string; readonly kind: string; readonly x: number; readonly y: number }[];
  /** Links between nodes, by index. */
  readonly links: readonly { readonly ends: readonly [number, number]; readonly text: string }[];
}

export interface TestReport {
  readonly lab: string;
  readonly seed: number;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly verdict: TestVerdict;
  readonly ready: readonly ReadyNode[];
  readonly steps: readonly StepReport[];
  /** Undefined: the checks did not begin. */
  readonly certificate: Certificate | undefined;
  /** Error that ended the test early. */
  readonly failure: string | undefined;
  readonly topology: TopologyPicture;
  readonly consoles: readonly { readonly node: string; readonly entries: readonly DialogueEntry[] }[];
}

/** Decides the verdict. Failed checks of an unfaithful emulation prove nothing either. */
export function verdictOf({ ready, steps, certificate, failure }: Omit<TestReport, 'verdict'>): TestVerdict {
  if (failure !== undefined) return 'void';
  if (ready.some(({ isReady }) => !isReady)) return 'failed';
  if (!certificate?.isFaithful) return 'void';
  return findFirstFailure(steps) === undefined && steps.every(({ outcome }) => outcome === 'passed') ? 'passed' : 'failed';
}
