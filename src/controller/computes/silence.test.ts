import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { watchSilence } from './remote-transport.ts';

describe('silence', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }));
  afterEach(() => mock.timers.reset());

  it('is noticed once, after the limit', () => {
    const noticed = mock.fn();
    watchSilence(1000, noticed);
    mock.timers.tick(999);
    assert.equal(noticed.mock.callCount(), 0);
    mock.timers.tick(5000);
    assert.equal(noticed.mock.callCount(), 1);
  });

  it('starts over with each message, and ends', () => {
    const noticed = mock.fn();
    const silence = watchSilence(1000, noticed);
    for (let times = 0; times < 5; times++) {
      mock.timers.tick(900);
      silence.restart();
    }
    silence.end();
    mock.timers.tick(5000);
    assert.equal(noticed.mock.callCount(), 0);
  });
});

it('time in which this process stood still is not silence', async () => {
  const noticed = mock.fn();
  const silence = watchSilence(200, noticed);
  // The event loop is held five times as long as the limit.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(noticed.mock.callCount(), 0);
  silence.end();
});
