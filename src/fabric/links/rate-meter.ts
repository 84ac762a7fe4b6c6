/**
 * How much went by in the last second and the last minute. Counters are looked at once a second, so a frame costs nothing and a link
 * the same however busy it is; one that never carried a frame has no memory of it either.
 */
import type { Rates } from '../protocol.ts';

export const sampleEveryMs = 1000;
const minuteSamples = 60;
const ringSize = minuteSamples + 1;

/** When the samples of all meters of a fabric were taken. */
export class SampleTimes {
  readonly #atMs = new Float64Array(ringSize);
  #taken = 0;

  /** The first sample needs no counters: they all begin at zero. */
  constructor(nowMs: number) {
    this.next(nowMs);
  }

  /** Place of the next sample in the meters' rings. */
  next(nowMs: number): number {
    const slot = this.#taken % ringSize;
    this.#atMs[slot] = nowMs;
    this.#taken += 1;
    return slot;
  }

  /** The last sample and the one `count` before it, as far as there are so many; undefined before the second. */
  span(count: number): { from: number; to: number; seconds: number } | undefined {
    const reach = Math.min(count, this.#taken - 1);
    if (reach < 1) return undefined;
    const to = (this.#taken - 1) % ringSize;
    const from = (this.#taken - 1 - reach) % ringSize;
    return { from, to, seconds: ((this.#atMs[to] as number) - (this.#atMs[from] as number)) / 1000 };
  }
}

export class RateMeter {
  /** Two numbers a sample, frames and bytes; missing samples are zero, as the counters were before their first frame. */
  #ring: Float64Array | undefined;

  note(slot: number, frames: number, bytes: number): void {
    if (!this.#ring && frames === 0) return;
    this.#ring ??= new Float64Array(2 * ringSize);
    this.#ring[2 * slot] = frames;
    this.#ring[2 * slot + 1] = bytes;
  }

  read(times: SampleTimes): Rates {
    return { second: this.#over(times, 1), minute: this.#over(times, minuteSamples) };
  }

  #over(times: SampleTimes, count: number): Rates['second'] {
    const ring = this.#ring;
    const span = ring && times.span(count);
    if (!span || span.seconds <= 0) return { framesPerSecond: 0, bitsPerSecond: 0 };
    const perSecond = (offset: 0 | 1) =>
      ((ring[2 * span.to + offset] as number) - (ring[2 * span.from + offset] as number)) / span.seconds;
    return { framesPerSecond: perSecond(0), bitsPerSecond: 8 * perSecond(1) };
  }
}
