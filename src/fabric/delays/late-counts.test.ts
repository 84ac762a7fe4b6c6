import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LateCounts } from './late-counts.ts';

it('counts by upper bounds, a fifth apart, and never by a bound below the value', () => {
  const counts = new LateCounts();
  assert.equal(counts.list(), undefined);
  for (const ms of [0.001, 1, 1, 50, 2000, 1e9]) counts.record(ms, 1);
  counts.record(50, 9);
  const list = counts.list() ?? [];
  assert.deepEqual(
    list.map(({ count }) => count),
    [1, 2, 10, 1, 1],
  );
  for (const [index, value] of [0.001, 1, 50, 2000].entries()) {
    const { ms } = list[index] as { ms: number };
    assert.ok(ms >= value * 0.9999 && (ms <= value * 1.2 || ms < 0.04), `${value} is counted below ${ms}`);
  }
});
