import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rankTest } from './rank-test.ts';

const near = (value: number, expected: number) => assert.ok(Math.abs(value - expected) < 1e-4, `${value} for ${expected}`);

test('the probability is that of the tables of Mann and Whitney, whichever sample is the larger', () => {
  near(rankTest([1, 2, 3], [4, 5, 6]), 0.1);
  near(rankTest([4, 5, 6, 7], [1, 2, 3, 0]), 2 / 70);
  // Five values each, with 4 pairs the other way: their table has 0.048 for one side.
  near(rankTest([1, 2, 3, 4, 9], [5, 6, 7, 8, 10]), 2 * 0.0476);
  near(rankTest([1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]), 2 / 924);
});

test('equal samples are no difference, and samples of other sizes can be compared', () => {
  assert.equal(rankTest([1, 2, 3], [1, 2, 3]), 1);
  assert.equal(rankTest([2, 2, 2], [2, 2]), 1);
  near(rankTest([1], [2, 3, 4]), 0.5);
});
