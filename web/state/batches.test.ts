import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitFor } from '../../test/support/wait-for.ts';
import { Batches } from './batches.ts';

describe('items that arrive fast', () => {
  it('are applied together after the first, and one that fails keeps no other from it', async () => {
    const [applied, failed, batches]: [number[], string[], number[][]] = [[], [], []];
    const items = new Batches<number>({
      apply: (item) => {
        if (item === 2) throw new Error('two');
        applied.push(item);
      },
      together: (apply) => {
        const before = applied.length;
        apply();
        batches.push(applied.slice(before));
      },
      failed: (error) => failed.push((error as Error).message),
    });
    for (const item of [0, 1, 2, 3]) items.push(item);
    await waitFor(() => applied.length === 3, { what: 'all items but one' });
    items.push(4);
    await waitFor(() => applied.length === 4, { what: 'a later item' });
    assert.deepEqual(applied, [0, 1, 3, 4]);
    assert.deepEqual(failed, ['two']);
    assert.deepEqual(batches.at(-1), [4]);
  });
});
