import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readFidelity } from '../definition/fidelity-limits.ts';
import { binomialTail } from './binomial.ts';
import { certify, type Measured } from './certificate.ts';
import { addTotals, countedSince, quantilesOf } from './late-quantiles.ts';

/** Exact sums for small numbers. */
function exactTail(n: number, k: number, p: number): number {
  const choose = (m: number): number => (m === 0 ? 1 : (choose(m - 1) * (n - m + 1)) / m);
  const term = (m: number) => choose(m) * p ** m * (1 - p) ** (n - m);
  const sum = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => term(from + i)).reduce((a, b) => a + b, 0);
  return Math.min(sum(0, k), sum(k, n), 1);
}

it('the probability of a loss is that of the binomial distribution', () => {
  for (const [n, k, p] of [
    [30, 0, 0.1],
    [30, 9, 0.1],
    [50, 40, 0.5],
    [25, 1, 0.3],
    [40, 40, 0.9],
  ] as const) {
    const [found, exact] = [binomialTail(n, k, p), exactTail(n, k, p)];
    assert.ok(Math.abs(found / exact - 1) < 1e-6, `${n} ${k} ${p}: ${found}, not ${exact}`);
  }
  assert.equal(binomialTail(10, 3, 0), 0);
  assert.equal(binomialTail(10, 10, 1), 1);
  assert.ok(binomialTail(1_000_000, 100_200, 0.1) > 0.2);
  assert.ok(binomialTail(1_000_000, 103_000, 0.1) < 1e-15);
});

it('quantiles are those of the time between two readings', () => {
  const before = [
    { ms: 1, count: 100 },
    { ms: 500, count: 3 },
  ];
  const after = [
    { ms: 1, count: 198 },
    { ms: 2, count: 1 },
    { ms: 40, count: 1 },
    { ms: 500, count: 3 },
  ];
  const totals = countedSince(before, after);
  assert.deepEqual(quantilesOf(totals), { count: 100, p50: 1, p99: 2, worst: 40 });
  assert.equal(quantilesOf(addTotals(totals, totals)).count, 200);
});

const faithful: Measured = {
  links: [
    {
      name: 'A → B',
      frames: 900,
      delayError: { count: 900, p50: 0.2, p99: 2, worst: 9 },
      delays: ['delay 20'],
      losses: [{ percent: 10, frames: 1000, lost: 104 }],
      overflow: 0,
    },
  ],
  computes: [{ computeId: 'local', loopLate: { count: 500, p50: 1, p99: 5, worst: 60 }, stealPercent: 1, failure: undefined }],
  captures: [{ link: 'A', missed: 0 }],
  failures: [],
};

it('certifies a faithful emulation, and gives a reason for each deviation', () => {
  assert.deepEqual(certify(faithful, readFidelity({})).reasons, []);
  const [link] = faithful.links;
  const [host] = faithful.computes;
  assert.ok(link && host);
  const reasonOf = (change: Partial<Measured>, limits = {}) =>
    certify({ ...faithful, ...change }, readFidelity(limits)).reasons.join('; ');
  assert.match(
    reasonOf({ links: [{ ...link, delayError: { ...link.delayError, worst: 150 } }] }),
    /150 ms late \(worst\), at most 100/,
  );
  assert.match(reasonOf({ links: [{ ...link, losses: [{ percent: 10, frames: 1000, lost: 5 }] }] }), /5 of 1000 frames were lost/);
  assert.match(reasonOf({ links: [{ ...link, overflow: 2 }] }), /2 frames were dropped because the queue/);
  assert.match(reasonOf({ computes: [{ ...host, loopLate: { ...host.loopLate, worst: 300 } }] }), /the fabric was 300 ms late/);
  assert.match(reasonOf({ computes: [{ ...host, stealPercent: 50 }] }), /withheld 50 %/);
  assert.match(reasonOf({ computes: [{ ...host, failure: 'gone' }] }), /compute local: gone/);
  assert.match(reasonOf({ captures: [{ link: 'A', missed: 1 }] }), /missed 1 frames/);
  assert.match(reasonOf({ failures: ['changed'] }), /changed/);
  assert.match(reasonOf({ links: [{ ...link, excessMs: 30 }] }), /path between its computes takes 30 ms longer/);
  assert.equal(reasonOf({ links: [{ ...link, delays: [], excessMs: 30 }] }), '');
  const adviceOf = (change: Partial<Measured>) => certify({ ...faithful, ...change }, readFidelity({})).advice;
  assert.match(adviceOf({ computes: [{ ...host, stealPercent: 50 }] }) ?? '', /too busy.*run the test again/);
  assert.equal(adviceOf({ failures: ['changed'] }), undefined);
  // Time is not measured without delays; limits can be set.
  const plain = { links: [{ ...link, delays: [] }], computes: [{ ...host, loopLate: { ...host.loopLate, worst: 300 } }] };
  assert.equal(reasonOf(plain), '');
  assert.match(reasonOf(plain, { loop_late_worst: '200ms' }), /at most 200 ms/);
});
