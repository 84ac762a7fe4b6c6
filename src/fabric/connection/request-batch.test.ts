import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { RequestBatch } from './request-batch.ts';

interface Item {
  readonly id: string;
  readonly text?: string;
}

function batchOf(answer: (items: Item[]) => string[], mostItems?: number) {
  const sent: string[][] = [];
  const batch = new RequestBatch<Item, string[]>({
    send: async (items) => {
      sent.push(items.map(({ id }) => id));
      return answer(items);
    },
    share: (result, items, from) => result.slice(from, from + items.length),
    keyOf: ({ id }) => id,
    ...(mostItems !== undefined && { mostItems }),
  });
  return { batch, sent };
}
const itemsOf = (ids: string) => [...ids].map((id) => ({ id }));
const echoed = (items: Item[]) => items.map(({ id }) => id.toUpperCase());

test('requests of one turn leave as one, and each gets its part of the answer', async () => {
  const { batch, sent } = batchOf(echoed);
  const answers = ['ab', '', 'c'].map((ids) => batch.add(itemsOf(ids)));
  assert.deepEqual(sent, []);
  assert.deepEqual(await Promise.all(answers), [['A', 'B'], [], ['C']]);
  assert.deepEqual(sent, [['a', 'b', 'c']]);
  await turn();
  assert.deepEqual(await batch.add(itemsOf('d')), ['D']);
  assert.equal(sent.length, 2);
});

test('items that have one key, and those beyond the size of a request, leave in requests of their own, in order', async () => {
  const { batch, sent } = batchOf(echoed);
  await Promise.all([batch.add(itemsOf('a')), batch.add(itemsOf('ba'))]);
  assert.deepEqual(sent.splice(0), [['a'], ['b', 'a']]);
  const large = 'x'.repeat(200 * 1024);
  await Promise.all(['a', 'b'].map((id) => batch.add([{ id, text: large }])));
  assert.deepEqual(sent.splice(0), [['a'], ['b']]);
  await Promise.all(Array.from({ length: 150 }, (_, index) => batch.add([{ id: `${index}` }])));
  assert.deepEqual(
    sent.map(({ length }) => length),
    [64, 64, 22],
  );
  const short = batchOf(echoed, 2);
  await Promise.all([...'abc'].map((id) => short.batch.add([{ id }])));
  assert.deepEqual(short.sent, [['a', 'b'], ['c']]);
});

test('one request that is refused does not fail those that left with it', async () => {
  const { batch, sent } = batchOf((items) => {
    if (items.some(({ id }) => id === 'b')) throw new Error('refused');
    return echoed(items);
  });
  const answers = await Promise.allSettled(['a', 'b', 'c'].map((ids) => batch.add(itemsOf(ids))));
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(sent, [['a', 'b', 'c'], ['a'], ['b'], ['c']]);
});
