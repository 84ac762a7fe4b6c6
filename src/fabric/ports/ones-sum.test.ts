import assert from 'node:assert/strict';
import { it } from 'node:test';
import { onesSum } from './ones-sum.ts';

/** Sum as RFC 1071 defines it: one word after the other, each carry added at once. */
function byWords(bytes: Uint8Array, initial: number): number {
  let sum = initial;
  for (let at = 0; at < bytes.length; at += 2) {
    sum += ((bytes[at] as number) << 8) + (bytes[at + 1] ?? 0);
    if (sum > 0xffff) sum -= 0xffff;
  }
  return sum;
}

it('a sum of ones complement is that of all words, wherever it begins and however long it is', () => {
  const longest = 70_000;
  const mixed = Uint8Array.from({ length: longest }, (_, at) => (at * at * 31 + at * 7) >>> 3);
  for (const bytes of [mixed, new Uint8Array(longest).fill(0xff), new Uint8Array(longest)]) {
    const view = new DataView(bytes.buffer);
    for (const from of [0, 1, 2, 3, 38]) {
      for (const length of [0, 1, 2, 15, 16, 17, 31, 40, 1480, 1481, 65_535, longest - from]) {
        for (const initial of [0, 0xffff]) {
          const expected = byWords(bytes.subarray(from, from + length), initial);
          assert.equal(onesSum(view, from, from + length, initial), expected, `${length} from ${from}, ${initial}`);
        }
      }
    }
  }
});
