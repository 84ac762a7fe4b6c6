import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Load } from './load.ts';

test('how late the event loop is: a timer that is a fraction early is on time, and a reader sees what is late now', (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  let nowMs = 0;
  const load = new Load(() => nowMs);
  load.read(0);
  for (let round = 0; round < 10; round += 1) {
    nowMs += 19.6;
    t.mock.timers.tick(20);
  }
  assert.deepEqual(load.read(0).late, [{ ms: 0.03125, count: 10 }]);
  nowMs += 500;
  assert.equal(load.read(0).loopDelay.maxMs, 512);
  assert.equal(load.read(0).loopDelay.maxMs, 0);
});
