import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Filters } from '../schema/filter.ts';
import { translateBpf } from './bpf.ts';
import { type ActiveFilter, buildChain } from './filter.ts';
import { Random } from './random.ts';

const seed = 20250611;

function chainOf(filters: Filters, previous: ActiveFilter[] = []): ActiveFilter[] {
  // Matches frames whose first byte is 7.
  const programs = [
    translateBpf([
      [0x30, 0, 0, 0],
      [0x15, 0, 1, 7],
      [0x06, 0, 0, 1],
      [0x06, 0, 0, 0],
    ]),
  ];
  return buildChain({ filters, programsText: '' }, { random: new Random(seed), programs }, previous);
}

function onlyOne(filters: Filters): ActiveFilter['filter'] {
  const [active, ...others] = chainOf(filters);
  assert.ok(active && others.length === 0);
  return active.filter;
}

/** How many of `count` frames are lost. */
function lossOf(filters: Filters, count: number): number {
  const filter = onlyOne(filters);
  const frame = Buffer.alloc(60);
  let lost = 0;
  for (let index = 0; index < count; index += 1) if (filter.pass?.(frame, 0, 60) === false) lost += 1;
  return lost;
}

/** Within four standard deviations of what is expected. */
function assertBinomial(hits: number, count: number, percent: number): void {
  const chance = percent / 100;
  const bound = 4 * Math.sqrt(count * chance * (1 - chance));
  assert.ok(Math.abs(hits - count * chance) <= bound, `${hits} of ${count} at ${percent} %, seed ${seed}`);
}

describe('filters', () => {
  it('frequency_drop loses every Nth', () => {
    const filter = onlyOne({ frequency_drop: [3] });
    const passed = Array.from({ length: 7 }, () => filter.pass?.(Buffer.alloc(60), 0, 60));
    assert.deepEqual(passed, [true, true, false, true, true, false, true]);
    assert.equal(lossOf({ frequency_drop: [1] }, 10), 10);
    assert.equal(lossOf({ frequency_drop: [-1] }, 10), 10);
    assert.equal(lossOf({ frequency_drop: [0] }, 10), 0);
    assert.equal(lossOf({ frequency_drop: [-5] }, 10), 0);
  });

  it('packet_loss loses as many as asked', () => {
    assert.equal(lossOf({ packet_loss: [0] }, 10_000), 0);
    assert.equal(lossOf({ packet_loss: [100] }, 10_000), 10_000);
    for (const percent of [1, 10, 50, 99]) assertBinomial(lossOf({ packet_loss: [percent] }, 20_000), 20_000, percent);
  });

  it('corrupt changes a quarter in the middle of as many as asked, and loses none', () => {
    for (const percent of [0, 1, 30, 100]) {
      const filter = onlyOne({ corrupt: [percent] });
      let changed = 0;
      for (let index = 0; index < 5000; index += 1) {
        const buffer = Buffer.alloc(120);
        assert.equal(filter.pass?.(buffer, 10, 110), true);
        if (buffer.some((byte) => byte !== 0)) changed += 1;
        assert.ok(buffer.subarray(0, 49).every((byte) => byte === 0) && buffer.subarray(74).every((byte) => byte === 0));
      }
      assertBinomial(changed, 5000, percent);
    }
  });

  it('corrupt goes on with its pattern from frame to frame, and leaves the tiniest alone', () => {
    const filter = onlyOne({ corrupt: [100] });
    const frames = [Buffer.alloc(20), Buffer.alloc(20), Buffer.alloc(3)];
    for (const frame of frames) filter.pass?.(frame, 0, frame.length);
    assert.equal(frames[0]?.toString('hex', 9, 14), '641388401f');
    assert.equal(frames[1]?.toString('hex', 9, 14), 'a0aa556413');
    assert.deepEqual(frames[2], Buffer.alloc(3));
  });

  it('delay holds for the latency, jitter included', () => {
    assert.equal(onlyOne({ delay: [25] }).hold?.(), 25);
    assert.equal(onlyOne({ latency: [25] }).hold?.(), 25);
    const jittered = onlyOne({ delay: [25, 10] });
    const holds = Array.from({ length: 5000 }, () => jittered.hold?.() ?? Number.NaN);
    assert.ok(holds.every((hold) => hold >= 15 && hold <= 35));
    const mean = holds.reduce((sum, hold) => sum + hold) / holds.length;
    assert.ok(Math.abs(mean - 25) < 0.5 && Math.min(...holds) < 15.1 && Math.max(...holds) > 34.9, `mean ${mean}, seed ${seed}`);
    const floored = onlyOne({ delay: [5, 100] });
    const low = Array.from({ length: 500 }, () => floored.hold?.() ?? Number.NaN);
    assert.ok(low.every((hold) => hold >= 0) && low.some((hold) => hold === 0));
  });

  it('bpf loses what matches', () => {
    const filter = onlyOne({ bpf: ['an expression'] });
    assert.equal(filter.pass?.(Buffer.from([0, 7, 0]), 1, 3), false);
    assert.equal(filter.pass?.(Buffer.from([7, 0, 7]), 1, 3), true);
  });

  it('act in a fixed order', () => {
    const chain = chainOf({ delay: [1], corrupt: [1], bpf: ['x'], packet_loss: [1], frequency_drop: [2] });
    assert.deepEqual(
      chain.map(({ type }) => type),
      ['frequency_drop', 'packet_loss', 'bpf', 'corrupt', 'delay'],
    );
  });

  it('keep their state while they stay the same', () => {
    const before = chainOf({ frequency_drop: [3], packet_loss: [5], delay: [10] });
    const after = chainOf({ frequency_drop: [3], packet_loss: [6] }, before);
    assert.equal(after[0], before[0]);
    assert.notEqual(after[1], before[1]);
    assert.equal(after.length, 2);
  });

  it('choose the same with the same seed', () => {
    const [one, other, third] = [new Random(seed), new Random(seed), new Random(seed + 1)];
    const numbers = Array.from({ length: 20 }, () => one.next());
    assert.deepEqual(
      Array.from({ length: 20 }, () => other.next()),
      numbers,
    );
    assert.notDeepEqual(
      Array.from({ length: 20 }, () => third.next()),
      numbers,
    );
  });
});
