import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Filters } from '../../schema/filter.ts';
import type { LinkSchedule } from '../../schema/schedule.ts';
import { BlockPool } from '../delays/delay-line.ts';
import { DelaySchedule } from '../delays/delay-schedule.ts';
import { lost as dropped } from '../filters/filter.ts';
import { loadNative } from '../ports/native.ts';
import type { LinkSpec } from '../protocol.ts';
import { Direction } from './direction.ts';
import { Impairments } from './impairments.ts';
import { RateMeters } from './rate-meter.ts';
import { noFilters } from './stages.ts';

const port = { type: 'stream', path: '/nowhere' } as const;
// A program that selects by the first byte of a frame.
const firstIs = (byte: number) => (frame: Uint8Array) => (frame[0] === byte ? 1 : 0);
const programs = new Map([7, 8].map((byte) => [`first ${byte}`, [firstIs(byte)]]));

/** `schedule` started now. */
function impaired(filters: Filters, schedule?: Pick<LinkSchedule, 'steps'>) {
  const impairments = new Impairments();
  const timed = schedule && { ...schedule, started_at: Date.now(), traces: [] };
  const spec: LinkSpec = { id: 'link', a: port, b: port, filters, suspend: false, ...(timed && { schedule: timed }) };
  impairments.update(spec, programs);
  return { impairments, spec, startMs: performance.now() };
}

/** Whether each of so many frames from a to b is lost. */
function lost({ chains }: Impairments, count: number): boolean[] {
  const frame = Buffer.alloc(60);
  return Array.from({ length: count }, () => chains.ab.some(({ filter }) => filter.pass?.(frame, 0, 60) === false));
}

describe('impairments of a link', () => {
  it('continue their random choices while a schedule changes their values and switches them off', () => {
    const whole = lost(impaired({ packet_loss: [50], seed: [7] }).impairments, 200);
    const steps = [
      { at: 0, filters: { packet_loss: [50] } },
      { at: 10_000, filters: { packet_loss: [] } },
      { at: 20_000, filters: { packet_loss: [50] } },
    ];
    const { impairments, startMs, spec } = impaired({ seed: [7] }, { steps });
    impairments.advance(startMs + 5_000);
    const first = lost(impairments, 100);
    impairments.advance(startMs + 15_000);
    assert.deepEqual(impairments.chains.ab, []);
    assert.ok(impairments.untilMs > startMs + 19_000 && impairments.untilMs < startMs + 21_000);
    impairments.advance(startMs + 25_000);
    assert.deepEqual([...first, ...lost(impairments, 100)], whole);
    impairments.update({ ...spec, filters: { seed: [7], delay: [5] } }, programs);
    assert.deepEqual(impairments.state(startMs + 15_000)?.filters, { seed: [7], delay: [5] });
  });

  it('continue their random choices in another link, also one that a schedule switches on later', () => {
    const filters: Filters = { packet_loss: [20], burst_loss: [10, 30], frequency_drop: [7] };
    const { impairments } = impaired(filters);
    lost(impairments, 100);
    const states = impairments.filterStates('ab', 0);
    const next = lost(impairments, 100);
    const other = impaired(filters).impairments;
    other.continueFilters('ab', states, 0);
    assert.deepEqual(lost(other, 100), next);
    const scheduled = impaired(
      { packet_loss: [20] },
      { steps: [{ at: 10_000, filters: { burst_loss: [10, 30], frequency_drop: [7] } }] },
    );
    scheduled.impairments.continueFilters('ab', states, 0);
    scheduled.impairments.advance(scheduled.startMs + 15_000);
    assert.deepEqual(lost(scheduled.impairments, 100), next);
  });

  it('continue the queue of a rate limit in another link, also when time stood still', async (context) => {
    // A rate of one byte a millisecond.
    const filters: Filters = { bandwidth: [8, 1_000] };
    const { impairments } = impaired(filters);
    const sentAt = (from: Impairments, atMs: number) => from.chains.ab.map(({ filter }) => filter.hold?.(atMs, 400));
    assert.deepEqual([sentAt(impairments, 5_000), sentAt(impairments, 5_000)], [[5_400], [5_800]]);
    const states = impairments.filterStates('ab', 5_100);
    const other = impaired(filters).impairments;
    other.continueFilters('ab', states, 70_000);
    assert.deepEqual(states, other.filterStates('ab', 70_000));
    const schedule = new DelaySchedule(await loadNative());
    context.after(() => schedule.stop());
    const tools = { schedule, blocks: new BlockPool(), meters: new RateMeters(0), traces: { of: () => undefined } };
    const rules = { before: [], after: [], suspend: false, untilMs: Number.POSITIVE_INFINITY, advance: () => undefined };
    const direction = new Direction(rules, tools);
    direction.setFilters({ ...noFilters, chain: other.chains.ab });
    direction.hold(70_000);
    direction.unhold(70_300);
    assert.deepEqual([sentAt(other, 70_300), sentAt(other, 70_500)], [[dropped], [71_400]]);
    const damaged = states.map((state) => ({ ...state, position: 1e300 }));
    other.continueFilters('ab', damaged, 0);
    assert.deepEqual(
      other.filterStates('ab', 0).map(({ position }) => position),
      [3_600_000],
    );
  });

  it('ramp from the own values of a filter that has a text', () => {
    const steps = [{ at: 0, ramp: 100_000, filters: { jitter: [1, 'normal'] } }];
    // Links are given to the fabric with the texts of a filter first.
    const { impairments, startMs } = impaired({ delay: [20, 5], jitter: ['normal', 0] }, { steps });
    assert.deepEqual(impairments.state(startMs + 25_000)?.filters.jitter, ['normal', 0]);
    assert.deepEqual(impairments.state(startMs + 99_000)?.filters.jitter, ['normal', 1]);
  });

  it('change their expressions and seed with the steps', () => {
    const steps = [
      { at: 10_000, filters: { packet_loss: [100], match_ab: ['first 7'] } },
      { at: 20_000, filters: { match_ab: [], packet_loss: [], bpf: ['first 8'] } },
      { at: 30_000, ramp: 10_000, filters: { bpf: [], packet_loss: [50], seed: [7] } },
    ];
    const { impairments, startMs } = impaired({ bpf: ['first 7'], seed: [1] }, { steps });
    // Filters of another seed are continued, as after a rewind: the step with a seed ends that.
    const states = impaired({ packet_loss: [50], seed: [3] }).impairments.filterStates('ab', 0);
    impairments.continueFilters('ab', states, 0);
    const losses = (byte: number) => {
      const frame = Buffer.alloc(60, byte);
      return impairments.chains.ab.filter(({ filter }) => filter.pass?.(frame, 0, 60) === false).map(({ type }) => type);
    };
    const matches = (byte: number) => impairments.match.ab?.(Buffer.alloc(60, byte), 0, 60);
    assert.deepEqual([losses(7), losses(8), impairments.match.ab], [['bpf'], [], undefined]);
    impairments.advance(startMs + 15_000);
    assert.deepEqual([matches(7), matches(8), impairments.match.ba], [1, 0, undefined]);
    impairments.advance(startMs + 25_000);
    assert.deepEqual([losses(7), losses(8), impairments.match.ab], [[], ['bpf'], undefined]);
    impairments.advance(startMs + 31_000);
    assert.deepEqual(impairments.state(startMs + 31_000)?.filters.seed, [7], 'a seed has no values in between');
    impairments.advance(startMs + 41_000);
    const seeded = lost(impaired({ packet_loss: [50], seed: [7] }).impairments, 200);
    assert.deepEqual(lost(impairments, 200), seeded);
  });

  it('leave out what a schedule switches off, by its text or its first number', () => {
    const steps = [{ at: 0, filters: { delay: [0, 5], jitter: [1, ''], packet_loss_ab: [] } }];
    const { impairments, startMs } = impaired({ latency: [10], jitter: ['normal', 0], packet_loss: [5] }, { steps });
    assert.deepEqual(impairments.state(startMs + 5)?.filters, { packet_loss: [5] });
  });
});
