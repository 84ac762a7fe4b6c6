import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DirectionCounters, LinkStats } from '../../src/schema/link-stats.ts';
import { historyMs, type LinkSample, roundTop, withSample } from './link-history.ts';

const direction = (dropped: Record<string, number>): DirectionCounters => ({
  from_node_id: 'a',
  from_node: 'A',
  to_node_id: 'b',
  to_node: 'B',
  received_frames: 0,
  received_bytes: 0,
  frames: 0,
  bytes: 0,
  last_second: { frames_per_second: 10, bits_per_second: 8000 },
  last_minute: { frames_per_second: 10, bits_per_second: 8000 },
  dropped,
  queued_frames: 0,
  queued_bytes: 0,
  delay: { median_ms: 20, p99_ms: 22 },
});
const stats = (lost: number, since = '2026-01-01T00:00:00Z'): LinkStats => ({
  project_id: 'p',
  link_id: 'l',
  running: true,
  reason: null,
  carrier: 'fabric',
  since,
  directions: [direction({ packet_loss: lost, suspend: 1 }), direction({})],
  captures: [],
});

describe('the history of a link', () => {
  it('has drops per second, computed from totals', () => {
    const before = { stats: stats(10), atMs: 1000 };
    const [sample] = withSample([], { stats: stats(30), atMs: 3000 }, before);
    assert.equal(sample?.ways[0].dropsPerSecond, 10);
    assert.equal(sample.ways[1].dropsPerSecond, 0);
    assert.equal(sample.ways[0].delayMs, 20);
  });

  it('ignores totals from before the link restarted', () => {
    const before = { stats: stats(10), atMs: 1000 };
    const [sample] = withSample([], { stats: stats(30, '2026-01-02T00:00:00Z'), atMs: 2000 }, before);
    assert.equal(sample?.ways[0].dropsPerSecond, 0);
  });

  it('keeps two minutes', () => {
    let history: readonly LinkSample[] = [];
    for (let atMs = 0; atMs <= 2 * historyMs; atMs += 1000) history = withSample(history, { stats: stats(0), atMs }, undefined);
    assert.equal(history.length, historyMs / 1000 + 1);
    assert.equal(history[0]?.atMs, historyMs);
  });

  it('has a scale of round figures', () => {
    assert.deepEqual([0, 1, 1.1, 3, 7, 10, 480, 1e6].map(roundTop), [1, 1, 2, 5, 10, 10, 500, 1e6]);
  });
});
