import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedRead } from './shared-read.ts';

test('calls during a read share the next one, which begins after them', async () => {
  const running: PromiseWithResolvers<number>[] = [];
  const shared = new SharedRead(() => {
    const read = Promise.withResolvers<number>();
    running.push(read);
    return read.promise;
  });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const first = [shared.latest(), shared.latest()];
  await settled();
  const second = Array.from({ length: 1_000 }, () => shared.latest());
  await settled();
  assert.equal(running.length, 1);
  running[0]?.resolve(1);
  assert.deepEqual(await Promise.all(first), [1, 1]);
  await settled();
  assert.equal(running.length, 2);
  running[1]?.resolve(2);
  assert.deepEqual([...new Set(await Promise.all(second))], [2]);
});

test('a read that fails fails those calls that wait for it, and no later one', async () => {
  let reads = 0;
  const shared = new SharedRead(async () => {
    reads++;
    if (reads === 1) throw new Error('gone');
    return reads;
  });
  await assert.rejects(shared.latest(), /gone/);
  assert.equal(await shared.latest(), 2);
});
