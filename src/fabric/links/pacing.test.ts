import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Pacing } from './pacing.ts';

/** So many turns of the event loop, `apartMs` from each other, in which runs of frames come in; returns the pauses, ms. */
async function pausesOf(options: {
  turns: number;
  framesAfter: (hasPaused: boolean) => number;
  apartMs?: number;
  dueInMs?: number;
  /** Also frames come that are delayed. */
  timedTurns?: number;
}): Promise<number[]> {
  const { turns, framesAfter, apartMs = 0.05, dueInMs = Number.POSITIVE_INFINITY, timedTurns = 0 } = options;
  let nowMs = 0;
  const pauses: number[] = [];
  const sleep = (ms: number) => {
    pauses.push(ms);
    nowMs += ms;
  };
  const pacing = new Pacing(() => nowMs + dueInMs, { now: () => nowMs, sleep });
  let before = 0;
  for (let count = 0; count < turns; count += 1) {
    nowMs += apartMs;
    if (count < timedTurns) pacing.note(1, true);
    pacing.note(framesAfter(pauses.length > before), false);
    before = pauses.length;
    await turn();
  }
  return pauses;
}

describe('pacing of reads', () => {
  it('pauses after each turn while that brings many frames at once', async () => {
    const pauses = await pausesOf({ turns: 100, framesAfter: (hasPaused) => (hasPaused ? 8 : 1) });
    assert.equal(pauses.length, 99);
    assert.ok(pauses.every((ms) => ms === 0.15));
  });

  it('does so ever less when a sender waits for an answer', async () => {
    const { length } = await pausesOf({ turns: 1000, framesAfter: () => 1 });
    assert.ok(length > 1 && length <= 8, `${length} pauses in 1,000 turns`);
  });

  it('does not when frames come slowly, or many at a time anyway', async () => {
    assert.deepEqual(await pausesOf({ turns: 50, framesAfter: () => 1, apartMs: 0.4 }), []);
    assert.deepEqual(await pausesOf({ turns: 50, framesAfter: () => 40 }), []);
  });

  it('pauses more shortly while frames come that are delayed, if at all', async () => {
    const timed = { turns: 100, framesAfter: () => 8, timedTurns: 100 };
    assert.deepEqual(await pausesOf(timed), []);
    const short = await pausesOf({ ...timed, apartMs: 0.01 });
    assert.ok(short.length > 50 && short.every((ms) => ms === 0.08));
    const after = await pausesOf({ ...timed, turns: 300 });
    assert.ok(after.length > 50 && after.every((ms) => ms === 0.15));
  });

  it('ends when a frame is due', async () => {
    const short = await pausesOf({ turns: 50, framesAfter: () => 4, dueInMs: 0.1 });
    assert.ok(short.length > 0 && short.every((ms) => Math.abs(ms - 0.1) < 1e-6));
    assert.deepEqual(await pausesOf({ turns: 50, framesAfter: () => 4, dueInMs: 0.01 }), []);
  });
});
