import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { Retry } from './retry.ts';

describe('Retry', () => {
  it('waits longer after each failure, up to the longest wait, and starts over after a success', (context) => {
    const { timers } = context.mock;
    timers.enable({ apis: ['setTimeout'] });
    const attempt = mock.fn();
    const retry = new Retry({ firstMs: 10, longestMs: 35 }, attempt);
    const waits = (...all: number[]) => {
      for (const waitMs of all) {
        attempt.mock.resetCalls();
        retry.failed();
        timers.tick(waitMs - 1);
        assert.equal(attempt.mock.callCount(), 0, `before ${waitMs} ms`);
        timers.tick(1);
        assert.equal(attempt.mock.callCount(), 1, `after ${waitMs} ms`);
      }
    };
    waits(10, 20, 35, 35);
    retry.succeeded();
    waits(10, 20);
  });

  it('makes one attempt for failures that come together, at once when nudged, and none after stop', (context) => {
    const { timers } = context.mock;
    timers.enable({ apis: ['setTimeout'] });
    const attempt = mock.fn();
    const retry = new Retry({ firstMs: 10, longestMs: 100 }, attempt);
    retry.nudge();
    assert.equal(attempt.mock.callCount(), 0);
    retry.failed();
    retry.failed();
    timers.tick(10);
    assert.equal(attempt.mock.callCount(), 1);
    retry.failed(50);
    timers.tick(49);
    assert.equal(attempt.mock.callCount(), 1);
    retry.nudge();
    assert.equal(attempt.mock.callCount(), 2);
    retry.failed();
    retry.stop();
    timers.tick(1000);
    assert.equal(attempt.mock.callCount(), 2);
  });

  it('ends a pause when its signal aborts', async () => {
    const ended = new AbortController();
    const pause = new Retry({ firstMs: 1_000_000, longestMs: 1_000_000 }).pause(ended.signal);
    ended.abort();
    await pause;
  });
});
