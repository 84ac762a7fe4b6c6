import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairLimit } from './fair-limit.ts';

test('clients take turns, and one client never has all places', async () => {
  const limit = new FairLimit({ total: 3, each: 2 });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (client: string, name: string) =>
    limit.run(client, async () => {
      begun.push(name);
      await new Promise<void>((end) => ends.set(name, end));
    });
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => start(name.slice(0, 1), name));
  await new Promise(setImmediate);
  // The third place is not the first client's, although that waits.
  assert.deepEqual(begun, ['a1', 'a2', 'b1']);
  for (const name of ['a1', 'a2', 'b1', 'c1', 'b2', 'a3', 'a4']) {
    ends.get(name)?.();
    await new Promise(setImmediate);
  }
  await Promise.all(all);
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('a task that fails frees its place', async () => {
  const limit = new FairLimit({ total: 1, each: 1 });
  await assert.rejects(limit.run('a', () => Promise.reject(new Error('no'))));
  assert.equal(await limit.run('a', async () => 1), 1);
});
