import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RateMeter, RateMeters } from './rate-meter.ts';

interface Metered {
  readonly meter: RateMeter;
  readonly counted: { sent: number; sentBytes: number };
  readonly meters: RateMeters;
}

function metered(counts: readonly number[], everyMs = 1000): Metered {
  const meters = new RateMeters(0);
  const counted = { sent: 0, sentBytes: 0 };
  const meter = new RateMeter(meters, counted);
  for (const [index, frames] of counts.entries()) {
    if (frames !== counted.sent) meter.wake();
    Object.assign(counted, { sent: frames, sentBytes: frames * 100 });
    meters.sample((index + 1) * everyMs);
  }
  return { meter, counted, meters };
}
const read = ({ meter }: Metered) => meter.read();

describe('a rate meter', () => {
  it('knows nothing before the first sample', () => {
    const nothing = { framesPerSecond: 0, bitsPerSecond: 0 };
    assert.deepEqual(read(metered([])), { second: nothing, minute: nothing });
    assert.equal(read(metered([500])).second.framesPerSecond, 500);
  });

  it('tells the last second from the time there was', () => {
    const { second, minute } = read(metered([10, 40]));
    assert.deepEqual(second, { framesPerSecond: 30, bitsPerSecond: 24_000 });
    assert.deepEqual(minute, { framesPerSecond: 20, bitsPerSecond: 16_000 });
  });

  it('goes by the time that has really passed', () => {
    assert.equal(read(metered([10, 40], 2000)).second.framesPerSecond, 15);
  });

  it('forgets what is more than a minute ago', () => {
    const counts = [6000, ...Array.from({ length: 59 }, () => 6000)];
    assert.equal(read(metered(counts)).minute.framesPerSecond, 100);
    assert.equal(read(metered([...counts, 6000])).minute.framesPerSecond, 0);
    const steady = metered(Array.from({ length: 1000 }, (_, second) => second * 7));
    assert.equal(read(steady).minute.framesPerSecond, 7);
  });

  it('counts a link that was idle at first over the whole minute', () => {
    const idle = Array.from({ length: 59 }, () => 0);
    assert.equal(read(metered([...idle, 60])).minute.framesPerSecond, 1);
  });

  it('has nothing to sample when it was idle for a minute, and counts again from there', () => {
    const link = metered(Array.from({ length: 100 }, () => 6000));
    assert.deepEqual(read(link).minute, { framesPerSecond: 0, bitsPerSecond: 0 });
    assert.equal(link.meter.sample(0, 1), false);
    link.meter.wake();
    link.counted.sent += 60;
    link.meters.sample(101_000);
    assert.deepEqual([read(link).second.framesPerSecond, read(link).minute.framesPerSecond], [60, 1]);
  });
});
