/** Computes quantiles of lateness from counts that run since the start. */
import type { LateCountList } from '../../../src/schema/link-stats.ts';

export interface LateQuantiles {
  readonly count: number;
  /** Upper bounds, ms; 0 without a count. */
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
}

/** Count per bucket, by the bucket's upper bound. */
export type LateTotals = ReadonlyMap<number, number>;

export function countedSince(before: LateCountList, after: LateCountList): LateTotals {
  const known = new Map(before.map(({ ms, count }) => [ms, count]));
  return new Map(after.map(({ ms, count }) => [ms, Math.max(0, count - (known.get(ms) ?? 0))]));
}

export function addTotals(one: LateTotals, other: LateTotals): LateTotals {
  const sum = new Map(one);
  for (const [ms, count] of other) sum.set(ms, (sum.get(ms) ?? 0) + count);
  return sum;
}

export function quantilesOf(totals: LateTotals): LateQuantiles {
  const buckets = [...totals].filter(([, count]) => count > 0).toSorted(([one], [other]) => one - other);
  const count = buckets.reduce((sum, [, own]) => sum + own, 0);
  const at = (part: number) => {
    let seen = 0;
    return buckets.find(([, own]) => {
      seen += own;
      return seen >= count * part;
    })?.[0];
  };
  return { count, p50: at(0.5) ?? 0, p99: at(0.99) ?? 0, worst: buckets.at(-1)?.[0] ?? 0 };
}
