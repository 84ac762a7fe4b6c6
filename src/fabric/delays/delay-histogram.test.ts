import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DelayHistogram } from './delay-histogram.ts';

function assertNear(actual: number | undefined, expected: number): void {
  assert.ok(actual !== undefined && Math.abs(actual / expected - 1) < 0.02, `${actual} instead of ${expected}`);
}

describe('delay histogram', () => {
  it('tells median and p99 within two percent, whatever the size', () => {
    for (const unitMs of [0.01, 0.5, 10, 30_000]) {
      const histogram = new DelayHistogram();
      histogram.record(0, unitMs, 980);
      histogram.record(0, unitMs * 4, 20);
      const figures = histogram.figures(1);
      assertNear(figures?.median_ms, unitMs);
      assertNear(figures?.p99_ms, unitMs * 4);
    }
  });

  it('takes what is shorter or longer than it knows for the shortest and the longest', () => {
    const histogram = new DelayHistogram();
    histogram.record(0, 0, 1);
    assert.ok((histogram.figures(0)?.p99_ms ?? 1) < 0.01);
    histogram.record(0, 1e9, 1000);
    assert.ok((histogram.figures(0)?.median_ms ?? 0) > 100_000);
  });

  it('forgets', () => {
    const histogram = new DelayHistogram();
    assert.equal(histogram.figures(1e6), undefined);
    histogram.record(1e6, 10, 5);
    histogram.record(1e6 + 3000, 80, 10);
    assertNear(histogram.figures(1e6 + 3001)?.median_ms, 80);
    assertNear(histogram.figures(1e6 + 5900)?.p99_ms, 80);
    histogram.record(1e6 + 6000, 40, 100);
    assertNear(histogram.figures(1e6 + 6001)?.median_ms, 40);
    assert.equal(histogram.figures(1e6 + 20_000), undefined);
    histogram.record(1e6 + 20_000, 1, 1);
    assertNear(histogram.figures(1e6 + 20_000)?.p99_ms, 1);
  });
});
