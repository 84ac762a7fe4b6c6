import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bisect } from './bisect-search.ts';

/** Items 0 … count - 1; those from `bad` on are bad. */
async function searched({ count, bad, skip = [] }: { count: number; bad: number; skip?: readonly number[] }) {
  const judged: number[] = [];
  const result = await bisect([...Array(count).keys()], async (item) => {
    judged.push(item);
    if (skip.includes(item)) return 'skip';
    return item >= bad ? 'bad' : 'good';
  });
  assert.equal(new Set(judged).size, judged.length, 'no item twice');
  return { ...result, judged };
}

test('the first bad item is found, wherever it is, in about log2 steps', async () => {
  for (let count = 0; count <= 33; count++) {
    for (let bad = 0; bad <= count; bad++) {
      const { lastGood, firstBad, undecided, judged } = await searched({ count, bad });
      const isFound = bad < count;
      assert.equal(firstBad, isFound ? bad : undefined);
      assert.equal(lastGood, bad > 0 ? (isFound ? bad : count) - 1 : undefined);
      assert.deepEqual(undecided, []);
      assert.ok(judged.length <= 2 + Math.ceil(Math.log2(Math.max(count, 1))), `${judged.length} of ${count}`);
    }
  }
});

test('items that are skipped leave a range where they stand at the border only', async () => {
  assert.deepEqual((await searched({ count: 8, bad: 5, skip: [2, 7] })).undecided, []);
  const { lastGood, firstBad, undecided } = await searched({ count: 8, bad: 5, skip: [3, 4, 5] });
  assert.deepEqual([lastGood, firstBad, undecided], [2, 6, [3, 4, 5]]);
  const first = await searched({ count: 3, bad: 1, skip: [0] });
  assert.deepEqual([first.lastGood, first.firstBad, first.undecided], [undefined, 1, [0]]);
  const none = await searched({ count: 3, bad: 0, skip: [0, 1, 2] });
  assert.deepEqual([none.lastGood, none.firstBad, none.undecided], [undefined, undefined, [0, 1, 2]]);
});
