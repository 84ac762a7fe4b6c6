import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { EarlyReports } from './early-reports.ts';

test('reports wait until the project is open, and later ones behind them; others have their turn in between', async () => {
  const open = Promise.withResolvers<void>();
  const reports = new EarlyReports(() => open.promise);
  const taken: number[] = [];
  const hold = () => {
    for (const until = performance.now() + 4; performance.now() < until; );
  };
  const add = (number: number) =>
    reports.add(() => {
      hold();
      taken.push(number);
    });
  assert.equal(reports.isEmpty, true);
  for (let number = 0; number < 10; number++) add(number);
  await turn();
  assert.deepEqual([taken, reports.isEmpty], [[], false]);
  open.resolve();
  await turn();
  assert.ok(taken.length < 10, `${taken.length} in one turn`);
  add(10);
  while (!reports.isEmpty) await turn();
  assert.deepEqual(
    taken,
    Array.from({ length: 11 }, (_, number) => number),
  );
});
