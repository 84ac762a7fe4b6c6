import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { outside } from '../../lib/heap.ts';
import { loadNative } from '../ports/native.ts';
import { DelaySchedule, type ScheduledQueue } from './delay-schedule.ts';
import type { ClockCalls } from './timer-clock.ts';

async function releasesAll(context: TestContext, native?: ClockCalls): Promise<void> {
  const schedule = new DelaySchedule(native);
  context.after(() => schedule.stop());
  await schedule.ready();
  const released: number[] = [];
  const all = Promise.withResolvers<void>();
  const now = performance.now();
  // Some closer to each other than a thread can wake, some together, and one after a pause.
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
}

describe('delay schedule: releases all in the order of their times, and none early', () => {
  it('by a thread', (context) => releasesAll(context));
  it('by a timer of the kernel', async (context) => {
    const native = await loadNative();
    if (native) await releasesAll(context, native);
    else context.skip('koffi is not installed');
  });
});
