import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Pacing } from './pacing.ts';

/** Runs turns of the event loop, `apartMs` from each other, in which runs of frames come in; returns the pauses, ms. */
async function pausesOf(options: {
  turns: number;
  /** Number of frames of a turn, after a pause of so many ms or none. */
  framesAfter: (pausedMs: number) => number;
  apartMs?: number;
  dueInMs?: number;
  /** Number of first turns in which delayed frames come, too. */
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
    pacing.note(framesAfter(pauses.length > before ? (pauses.at(-1) ?? 0) : 0), false);
    before = pauses.length;
    await turn();
  }
  return pauses;
}

describe('pacing of reads', () => {
  it('pauses after each turn, for as long as some 48 frames take, within bounds', async () => {
    for (const [framesPerMs, expectedMs] of [
      [16, 0.6],
      [120, 0.4],
      [400, 0.15],
    ] as const) {
      const pauses = await pausesOf({ turns: 100, framesAfter: (pausedMs) => 1 + Math.round(pausedMs * framesPerMs) });
      assert.equal(pauses.length, 99);
      assert.equal(pauses[0], 0.15);
      for (const ms of pauses.slice(3)) assert.ok(Math.abs(ms - expectedMs) < 0.02, `${ms} ms at ${framesPerMs} frames a ms`);
    }
  });

  it('continues after a pause in vain, and makes no more of them after several', async () => {
    const afterPauses = (vain: number) => {
      let paused = 0;
      const framesAfter = (pausedMs: number) => {
        if (pausedMs > 0) paused += 1;
        return pausedMs > 0 && (paused <= 10 || paused > 10 + vain) ? 20 : 1;
      };
      return pausesOf({ turns: 100, framesAfter });
    };
    assert.equal((await afterPauses(3)).length, 99);
    assert.ok((await afterPauses(100)).length < 20);
  });

  it('does so ever less when a sender waits for an answer', async () => {
    const { length } = await pausesOf({ turns: 1000, framesAfter: () => 1 });
    assert.ok(length > 1 && length <= 8, `${length} pauses in 1,000 turns`);
  });

  it('does not when frames come slowly, or many at a time anyway', async () => {
    assert.deepEqual(await pausesOf({ turns: 50, framesAfter: () => 1, apartMs: 0.4 }), []);
    assert.deepEqual(await pausesOf({ turns: 50, framesAfter: () => 80 }), []);
  });

  it('pauses more shortly while frames come that are delayed, if at all', async () => {
    const timed = { turns: 100, framesAfter: () => 8, timedTurns: 100 };
    assert.deepEqual(await pausesOf(timed), []);
    const short = await pausesOf({ ...timed, apartMs: 0.01 });
    assert.ok(short.length > 50 && short.every((ms) => ms === 0.08));
    const after = await pausesOf({ ...timed, turns: 300 });
    assert.ok(after.length > 50 && after.every((ms) => ms >= 0.15));
  });

  it('ends when a frame is due', async () => {
    const short = await pausesOf({ turns: 50, framesAfter: () => 4, dueInMs: 0.1 });
    assert.ok(short.length > 0 && short.every((ms) => Math.abs(ms - 0.1) < 1e-6));
    assert.deepEqual(await pausesOf({ turns: 50, framesAfter: () => 4, dueInMs: 0.01 }), []);
  });
});
