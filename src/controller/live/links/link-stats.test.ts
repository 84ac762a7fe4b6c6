/** Two computes of one machine have no network in common, so what they tell of a link is put together here without them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DirectionFigures, PortStats } from '../../../schema/link-stats.ts';
import type { LinkEntry } from '../../model/topology.ts';
import { joined, pathOf } from './link-stats.ts';

const rate = (frames_per_second: number) => ({ frames_per_second, bits_per_second: frames_per_second * 800 });
const figures = (received: number, sent: number, more: Partial<DirectionFigures> = {}): DirectionFigures => ({
  received_frames: received,
  received_bytes: received * 100,
  frames: sent,
  bytes: sent * 100,
  last_second: rate(sent),
  last_minute: rate(sent / 60),
  dropped: {},
  queued_frames: 0,
  queued_bytes: 0,
  delay: null,
  late: null,
  ...more,
});

describe('one way through a link between two computes', () => {
  it('begins at the one and ends at the other; what either loses or holds is lost or held', () => {
    const delay = { median_ms: 10, p99_ms: 11 };
    const sending = figures(100, 80, { dropped: { packet_loss: 15, no_peer: 5 }, queued_frames: 3, queued_bytes: 312, delay });
    const receiving = figures(78, 70, { dropped: { no_peer: 8 } });
    assert.deepEqual(joined(sending, receiving), {
      ...figures(100, 70),
      dropped: { packet_loss: 15, no_peer: 13 },
      queued_frames: 3,
      queued_bytes: 312,
      delay,
    });
  });

  it('is that of the end that tells, and zero when none does', () => {
    assert.deepEqual(joined(figures(5, 4), undefined), figures(5, 4));
    assert.deepEqual(joined(undefined, figures(3, 2)), figures(3, 2));
    assert.deepEqual(joined(undefined, undefined), figures(0, 0));
  });
});

describe('the path between two computes', () => {
  const excess = (filters: object, scheduled?: object) => {
    const now = scheduled && { started_at: 0, elapsed: 5, filters: scheduled, suspend: false };
    const entry = { filters, ...(now && { schedule: { started_at: 0, steps: [], traces: [] } }) } as unknown as LinkEntry;
    // The first node's end does not filter: the other one reports the schedule, as it sees it.
    const one = { path: { via: 'direct', rtt_ms: 12 } } as PortStats;
    const other = { path: { via: 'direct', rtt_ms: 10 }, ...(now && { schedule: now }) } as PortStats;
    return pathOf(entry, one, other).path?.excess_ms;
  };

  it('is longer than the smaller delay that the link has now, be it by its filters or its schedule', () => {
    assert.equal(excess({}), 5);
    assert.equal(excess({ delay_ab: [20], delay_ba: [2] }), 3);
    assert.equal(excess({}, { delay: [4] }), 1);
    assert.equal(excess({ delay: [20] }, { delay_ab: [1], delay_ba: [20] }), 4);
  });
});
