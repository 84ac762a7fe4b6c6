import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FilterKey, Filters } from '../../schema/filter.ts';
import { translateBpf } from './bpf.ts';
import { type Filter, lost, noPath } from './filter.ts';
import { type ActiveFilter, buildChains, type Chains, noChains } from './filter-chains.ts';
import { Random } from './random.ts';

const seed = 20250611;

// Matches frames whose first byte is 7.
const program = translateBpf([
  [0x30, 0, 0, 0],
  [0x15, 0, 1, 7],
  [0x06, 0, 0, 1],
  [0x06, 0, 0, 0],
]);

const programs = { ab: [program], ba: [program] };

function chainsOf(filters: Filters, previous: Chains = noChains): Chains {
  return buildChains({ filters, seed, programs, isScheduled: false, path: noPath }, previous);
}
const typesOf = (chain: readonly ActiveFilter[]) => chain.map(({ type }) => type);

function onlyOne(filters: Filters): Filter {
  const [active, ...others] = chainsOf(filters).ab;
  assert.ok(active && others.length === 0);
  return active.filter;
}

/** Number of `count` frames that are lost. */
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

/** Times for which 50,000 frames are held. */
function holdsOf(filters: Filters): number[] {
  const filter = onlyOne(filters);
  return Array.from({ length: 50_000 }, () => filter.hold?.(0, 60) ?? Number.NaN);
}

function momentsOf(values: readonly number[]): { mean: number; deviation: number } {
  const mean = values.reduce((sum, value) => sum + value) / values.length;
  return { mean, deviation: Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) };
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
    for (const percent of [0.1, 1, 10, 50, 99.5]) assertBinomial(lossOf({ packet_loss: [percent] }, 100_000), 100_000, percent);
  });

  it('corrupt changes a quarter in the middle of as many as asked, and loses none', () => {
    for (const percent of [0, 0.5, 1, 30, 100]) {
      const filter = onlyOne({ corrupt: [percent] });
      let changed = 0;
      for (let index = 0; index < 100_000; index += 1) {
        const buffer = Buffer.alloc(120);
        assert.equal(filter.pass?.(buffer, 10, 110), true);
        if (buffer.some((byte) => byte !== 0)) changed += 1;
        assert.ok(buffer.subarray(0, 49).every((byte) => byte === 0) && buffer.subarray(74).every((byte) => byte === 0));
      }
      assertBinomial(changed, 100_000, percent);
    }
  });

  it('corrupt continues its pattern from frame to frame, and leaves the tiniest unchanged', () => {
    const filter = onlyOne({ corrupt: [100] });
    const frames = [Buffer.alloc(20), Buffer.alloc(20), Buffer.alloc(3)];
    for (const frame of frames) filter.pass?.(frame, 0, frame.length);
    assert.equal(frames[0]?.toString('hex', 9, 14), '641388401f');
    assert.equal(frames[1]?.toString('hex', 9, 14), 'a0aa556413');
    assert.deepEqual(frames[2], Buffer.alloc(3));
  });

  it('duplicate repeats as many as asked', () => {
    for (const percent of [0.2, 5, 100]) {
      const filter = onlyOne({ duplicate: [percent] });
      let twice = 0;
      for (let index = 0; index < 100_000; index += 1) if (filter.repeat?.()) twice += 1;
      assertBinomial(twice, 100_000, percent);
    }
  });

  it('reorder lets as many be overtaken as asked, by one frame or by the gap', () => {
    for (const [percent, gap, expected] of [
      [10, undefined, 1],
      [10, 0, 1],
      [0.5, 7, 7],
    ] as const) {
      const filter = onlyOne({ reorder: gap === undefined ? [percent] : [percent, gap] });
      const gaps = Array.from({ length: 100_000 }, () => filter.displace?.() ?? 0).filter((found) => found > 0);
      assertBinomial(gaps.length, 100_000, percent);
      assert.ok(gaps.every((found) => found === expected));
    }
  });

  it('burst_loss loses in bursts', () => {
    const count = 400_000;
    const filter = onlyOne({ burst_loss: [1, 20, 0.5, 80] });
    const fates = Array.from({ length: count }, () => filter.pass?.(Buffer.alloc(0), 0, 0) === false);
    const share = fates.filter((isLost) => isLost).length / count;
    // A frame of 21 meets the bad state in the long run.
    const expected = (1 / 21) * 0.8 + (20 / 21) * 0.005;
    assert.ok(Math.abs(share / expected - 1) < 0.05, `${share} instead of ${expected}, seed ${seed}`);
    const pairs = fates.filter((isLost, index) => isLost && fates[index + 1]).length;
    // Each by itself would be lost after another as rarely as at any other time.
    assert.ok(pairs / (share * count) > 10 * share, `${pairs} pairs of ${share * count}, seed ${seed}`);
  });

  it('burst_loss of one value loses all while a burst lasts, as netem does', () => {
    assert.equal(lossOf({ burst_loss: [100] }, 1000), 1000);
    assertBinomial(lossOf({ burst_loss: [30] }, 100_000), 100_000, 30);
    assert.equal(lossOf({ burst_loss: [100, 0, 0, 0] }, 1000), 0);
  });

  it('bandwidth sends bit after bit', () => {
    // 1,000 bits a millisecond: 125 bytes.
    const filter = onlyOne({ bandwidth: [1000, 1_000_000] });
    const leaving = Array.from({ length: 1000 }, () => filter.hold?.(50, 250));
    assert.deepEqual(
      leaving,
      Array.from({ length: 1000 }, (_, index) => 50 + 2 * (index + 1)),
    );
    assert.equal(filter.hold?.(5000, 125), 5001, 'an idle link begins at once');
  });

  it('bandwidth loses what does not fit into the queue, and only that', () => {
    const filter = onlyOne({ bandwidth: [1000, 1000] });
    const fates = Array.from({ length: 10 }, () => filter.hold?.(0, 300));
    assert.deepEqual(fates.slice(0, 5), [2.4, 4.8, 7.199999999999999, lost, lost]);
    assert.equal(filter.hold?.(2.4, 300), 9.6, 'as soon as one has left there is room for another');
    const tiny = onlyOne({ bandwidth: [1000, 1] });
    assert.deepEqual([tiny.hold?.(0, 1500), tiny.hold?.(0, 1500), tiny.hold?.(12, 1500)], [12, lost, 24]);
    const standard = onlyOne({ bandwidth: [8, 0] });
    const taken = Array.from({ length: 30 }, () => standard.hold?.(0, 1000)).filter((ms) => ms !== lost);
    assert.equal(taken.length, 16, 'at least 16 KiB');
    const fast = onlyOne({ bandwidth: [80_000] });
    const queued = Array.from({ length: 2000 }, () => fast.hold?.(0, 1000)).filter((ms) => ms !== lost);
    assert.equal(queued.length, 1000, '100 ms');
  });

  it('delay holds for the latency, jitter included', () => {
    assert.equal(onlyOne({ delay: [25] }).hold?.(100, 60), 125);
    assert.equal(onlyOne({ delay: [0.5] }).hold?.(100, 60), 100.5);
    assert.equal(onlyOne({ latency: [25] }).hold?.(100, 60), 125);
    const holds = holdsOf({ delay: [25, 10] });
    assert.ok(holds.every((hold) => hold >= 15 && hold <= 35));
    const { mean } = momentsOf(holds);
    assert.ok(Math.abs(mean - 25) < 0.1 && Math.min(...holds) < 15.1 && Math.max(...holds) > 34.9, `mean ${mean}, seed ${seed}`);
    const low = holdsOf({ delay: [5, 100] });
    assert.ok(low.every((hold) => hold >= 0) && low.some((hold) => hold === 0));
  });

  it('jitter has the distribution that is asked for', () => {
    const uniform = holdsOf({ delay: [500, 20], jitter: ['uniform'] });
    assert.ok(Math.abs(momentsOf(uniform).deviation - 20 / Math.sqrt(3)) < 0.2);
    const normal = holdsOf({ delay: [500, 20], jitter: ['normal'] });
    const { mean, deviation } = momentsOf(normal);
    assert.ok(Math.abs(mean - 500) < 0.4 && Math.abs(deviation - 20) < 0.4, `${mean} ${deviation}, seed ${seed}`);
    const within = normal.filter((hold) => Math.abs(hold - 500) < 20).length;
    assertBinomial(within, normal.length, 68.27);
    const pareto = holdsOf({ delay: [500, 20], jitter: ['pareto'] });
    assert.ok(Math.abs(momentsOf(pareto).mean - 500) < 1, `${momentsOf(pareto).mean}, seed ${seed}`);
    const least = 500 - 20 / Math.sqrt(3);
    assert.ok(Math.min(...pareto) > least - 0.001 && Math.min(...pareto) < least + 0.01);
    assert.ok(Math.max(...pareto) <= 700.001 && Math.max(...pareto) > 620, 'a long tail, which ends');
  });

  it('jitter lets frames overtake only when asked to', () => {
    assert.ok(!onlyOne({ delay: [5, 2] }).overtakes);
    assert.ok(!onlyOne({ delay: [5, 2], jitter: ['normal', 0] }).overtakes);
    assert.ok(onlyOne({ delay: [5, 2], jitter: ['uniform', 1] }).overtakes);
  });

  it('bpf loses what matches', () => {
    const filter = onlyOne({ bpf: ['an expression'] });
    assert.equal(filter.pass?.(Buffer.from([0, 7, 0]), 1, 3), false);
    assert.equal(filter.pass?.(Buffer.from([7, 0, 7]), 1, 3), true);
  });

  it('act in a fixed order', () => {
    const filters: Filters = {
      delay: [1],
      bandwidth: [1],
      reorder: [1],
      duplicate: [1],
      corrupt: [1],
      bpf: ['x'],
      burst_loss: [1],
    };
    assert.deepEqual(typesOf(chainsOf({ seed: [1], jitter: ['normal'], ...filters, packet_loss: [1], frequency_drop: [2] }).ab), [
      'frequency_drop',
      'packet_loss',
      'burst_loss',
      'bpf',
      'corrupt',
      'duplicate',
      'reorder',
      'bandwidth',
      'delay',
    ]);
  });

  it('of one direction take the place of those of both', () => {
    const { ab, ba } = chainsOf({ delay: [10], latency_ba: [50], packet_loss_ab: [100], bandwidth: [8], bandwidth_ba: [80] });
    assert.deepEqual(
      [typesOf(ab), typesOf(ba)],
      [
        ['packet_loss', 'bandwidth', 'delay'],
        ['bandwidth', 'delay'],
      ],
    );
    const holds = (chain: readonly ActiveFilter[], type: FilterKey) =>
      chain.find((active) => active.type === type)?.filter.hold?.(0, 100);
    assert.deepEqual([holds(ab, 'delay'), holds(ba, 'delay')], [10, 50]);
    assert.deepEqual([holds(ab, 'bandwidth'), holds(ba, 'bandwidth')], [100, 10]);
  });

  it('keep their state while they stay the same', () => {
    const before = chainsOf({ frequency_drop: [3], packet_loss: [5], delay: [10] });
    const after = chainsOf({ frequency_drop: [3], packet_loss: [6] }, before);
    assert.equal(after.ab[0], before.ab[0]);
    assert.notEqual(after.ab[1], before.ab[1]);
    assert.equal(after.ab.length, 2);
    const jittered = chainsOf({ delay: [10, 5] });
    assert.notEqual(chainsOf({ delay: [10, 5], jitter: ['normal'] }, jittered).ab[0], jittered.ab[0]);
  });

  it('share the count of frequency_drop between the directions, and nothing else', () => {
    const { ab, ba } = chainsOf({ frequency_drop: [3], packet_loss: [5] });
    assert.equal(ab[0], ba[0]);
    assert.notEqual(ab[1], ba[1]);
    const own = chainsOf({ frequency_drop: [3], frequency_drop_ba: [5] });
    assert.notEqual(own.ab[0], own.ba[0]);
  });

  it('choose each for itself', () => {
    const fates = (filters: Filters, direction: 'ab' | 'ba') => {
      const filter = chainsOf(filters)[direction].find(({ type }) => type === 'packet_loss')?.filter;
      return Array.from({ length: 200 }, () => filter?.pass?.(Buffer.alloc(0), 0, 0));
    };
    assert.deepEqual(fates({ packet_loss: [50] }, 'ab'), fates({ packet_loss: [50], corrupt: [50] }, 'ab'));
    assert.notDeepEqual(fates({ packet_loss: [50] }, 'ab'), fates({ packet_loss: [50] }, 'ba'));
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

it('a delay is less by what the path to another compute takes, and never negative', () => {
  const path = { oneWayMs: 4 };
  const of = (filters: Filters) => {
    const spec = { filters, seed, programs: { ab: [], ba: [] }, isScheduled: false, path };
    return buildChains(spec, noChains).ba[0]?.filter as Filter;
  };
  const [long, short, jittered] = [of({ delay: [10] }), of({ latency: [3] }), of({ delay: [10, 2] })];
  assert.deepEqual([long.hold?.(100, 60), short.hold?.(100, 60)], [106, 100]);
  const times = Array.from({ length: 200 }, () => Number(jittered.hold?.(100, 60)));
  assert.ok(Math.min(...times) >= 104 && Math.max(...times) <= 108);
  // Measured again.
  path.oneWayMs = 1;
  assert.equal(long.hold?.(100, 60), 109);
});
