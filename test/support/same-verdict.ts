/** The promise of a seed: two runs of a worked lab pass, and every step of both comes to the same. */
import assert from 'node:assert/strict';
import type { TestReport } from '../../lab/checks/report/test-report.ts';
import type { StepReport } from '../../lab/checks/run/step-report.ts';

/** All five labs run twice: minutes. `npm run fuzz -- 1 labs` sets it. */
export const runsLabsTwice = process.env.PATCHBAY_TEST_LABS_TWICE === '1';
export const skipTwice = runsLabsTwice ? undefined : 'npm run fuzz -- 1 labs';

export function assertSameVerdict(one: TestReport, other: TestReport): void {
  const outcomes = (steps: readonly StepReport[]): unknown[] =>
    steps.map(({ name, outcome, steps: inner }) => [name, outcome, outcomes(inner)]);
  for (const { verdict, certificate, steps } of [one, other])
    assert.equal(verdict, 'passed', JSON.stringify([certificate?.reasons, steps.filter(({ outcome }) => outcome !== 'passed')]));
  assert.deepEqual(outcomes(one.steps), outcomes(other.steps));
  assert.equal(one.seed, other.seed);
}
