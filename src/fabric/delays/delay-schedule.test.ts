import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { outside } from '../../lib/heap.ts';
import { loadNative } from '../ports/native.ts';
import { DelaySchedule, type ScheduledQueue } from './delay-schedule.ts';
import type { ClockCalls } from './timer-clock.ts';

it('a delay schedule releases all in the order of their times, and none early', async (context) => {
  const schedule = new DelaySchedule(await loadNative());
  context.after(() => schedule.stop());
  const released: number[] = [];
  const all = Promise.withResolvers<void>();
  const now = performance.now();
  // Some closer to each other than the loop can wake, some together, and one after a pause.
  const dueMs = [...Array.from({ length: 200 }, (_, index) => now + 2 + (index % 100) * 0.03), now + 30];
  for (const [index, wakeMs] of dueMs.toReversed().entries()) {
    const one: ScheduledQueue = {
      place: outside,
      wakeMs: 0,
      release() {
        if (performance.now() < wakeMs) all.reject(new Error(`${index} is early`));
        released.push(wakeMs);
        if (released.length === dueMs.length) all.resolve();
      },
    };
    schedule.add(one, wakeMs);
  }
  await all.promise;
  assert.deepEqual(
    released,
    released.toSorted((a, b) => a - b),
  );
  assert.equal(schedule.nextMs, Number.POSITIVE_INFINITY);
});

/** Counts how often the timer is set. */
class CountedTimer implements ClockCalls {
  sets = 0;
  openTimer = () => 1;
  setTimer = () => {
    this.sets += 1;
    return 0;
  };
  watch = () => ({ close() {} });
  close = () => undefined;
}

describe('delay schedule: while it releases', () => {
  it('sets the clock once, at the end, also when frames that are released are delayed again', async (context) => {
    const timer = new CountedTimer();
    const schedule = new DelaySchedule(timer);
    context.after(() => schedule.stop());
    const nowMs = performance.now();
    const queue = (release: () => void): ScheduledQueue => ({ place: outside, wakeMs: 0, release });
    const released: string[] = [];
    const later = Array.from({ length: 3 }, () => queue(() => undefined));
    const first = queue(() => {
      released.push('first begins');
      schedule.runIfDue(nowMs);
      for (const [index, one] of later.entries()) schedule.add(one, nowMs + 30_000 - index);
      released.push('first ends');
    });
    schedule.add(first, nowMs);
    schedule.add(
      queue(() => released.push('second')),
      nowMs,
    );
    schedule.run(nowMs);
    assert.deepEqual(released, ['first begins', 'first ends', 'second']);
    assert.equal(timer.sets, 1);
    assert.equal(schedule.nextMs, nowMs + 30_000 - 2);
  });
});
