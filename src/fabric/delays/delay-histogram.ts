/**
 * Counts the real delays of frames over the last seconds, in constant memory: in buckets that grow by 2 % each.
 *
 * Two windows of counts take turns. Figures are those of both, so they cover between one and two windows of time.
 */
import type { DelayFigures } from '../protocol.ts';
import { LateCounts } from './late-counts.ts';

const windowMs = 3000;
const bucketsPerOctave = 32;
/** Upper bound of the first bucket, 2^-7 ms or 8 µs; and how many times this doubles, to 131 s. */
const leastExponent = -7;
const octaves = 24;
const bucketCount = octaves * bucketsPerOctave;

export class DelayHistogram {
  /** Lateness of frames, from due to sent. */
  readonly late = new LateCounts();
  #counts: Uint32Array | undefined;
  #before: Uint32Array | undefined;
  #since = 0;

  /** Counts frames that leave now after so long a wait. Times are in ms. */
  record(nowMs: number, waitedMs: number, frames: number): void {
    this.#turn(nowMs);
    this.#counts ??= new Uint32Array(bucketCount);
    const at = bucketOf(waitedMs);
    this.#counts[at] = (this.#counts[at] as number) + frames;
  }

  /** Undefined when no frame waited lately. */
  figures(nowMs: number): DelayFigures | undefined {
    this.#turn(nowMs);
    const counts = [this.#counts, this.#before].filter((window) => window !== undefined);
    const total = counts.reduce((sum, window) => sum + window.reduce((one, other) => one + other, 0), 0);
    if (total === 0) return undefined;
    return { median_ms: quantile(counts, total * 0.5), p99_ms: quantile(counts, total * 0.99) };
  }

  #turn(nowMs: number): void {
    const windows = Math.floor((nowMs - this.#since) / windowMs);
    if (windows <= 0) return;
    const spare = this.#before;
    this.#before = windows === 1 ? this.#counts : undefined;
    // A link without traffic keeps no counts.
    this.#counts = this.#before && spare?.fill(0);
    this.#since += windows * windowMs;
  }
}

function bucketOf(waitedMs: number): number {
  const at = Math.floor((Math.log2(waitedMs) - leastExponent) * bucketsPerOctave);
  return at > 0 ? Math.min(at, bucketCount - 1) : 0;
}

/** The middle of the bucket in which the `rank`th frame lies. */
function quantile(windows: readonly Uint32Array[], rank: number): number {
  let seen = 0;
  for (let at = 0; at < bucketCount; at += 1) {
    for (const window of windows) seen += window[at] as number;
    if (seen >= rank) return Number((2 ** (leastExponent + (at + 0.5) / bucketsPerOctave)).toPrecision(4));
  }
  return 0;
}
