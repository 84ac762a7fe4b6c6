/**
 * Counts delays since the start, in buckets that grow by a fifth. A reader subtracts the counts of its last reading, so several readers do
 * not disturb each other. Memory is constant, none before the first count.
 */
import type { LateCount } from '../protocol.ts';

const bucketsPerOctave = 4;
/** Upper bound of the first bucket, 2^-5 ms or 31 µs; and how often it doubles, to 131 s. */
const leastExponent = -5;
const octaves = 22;
const bucketCount = octaves * bucketsPerOctave + 1;

export class LateCounts {
  #counts: Float64Array | undefined;

  /** Counts events that were late by `lateMs`. */
  record(lateMs: number, count: number): void {
    this.#counts ??= new Float64Array(bucketCount);
    const at = bucketOf(lateMs);
    this.#counts[at] = (this.#counts[at] as number) + count;
  }

  /** Buckets that hold something, by their upper bounds; undefined when none does. */
  list(): LateCount[] | undefined {
    if (!this.#counts) return undefined;
    const list: LateCount[] = [];
    for (const [at, count] of this.#counts.entries()) if (count > 0) list.push({ ms: upperBound(at), count });
    return list;
  }
}

function bucketOf(lateMs: number): number {
  const at = Math.ceil((Math.log2(lateMs) - leastExponent) * bucketsPerOctave);
  return at > 0 ? Math.min(at, bucketCount - 1) : 0;
}

function upperBound(at: number): number {
  return Number((2 ** (leastExponent + at / bucketsPerOctave)).toPrecision(4));
}
