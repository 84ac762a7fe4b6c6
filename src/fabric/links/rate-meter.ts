/**
 * Measures the traffic of the last second and the last minute. Counters are sampled once a second, so a frame costs nothing and a link the
 * same however busy it is; a link that carried no frame for a minute costs nothing.
 */
import type { Rates } from '../protocol.ts';

export const sampleEveryMs = 1000;
const minuteSamples = 60;
const ringSize = minuteSamples + 1;

/** Times at which the samples of all meters of a fabric were taken. */
class SampleTimes {
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

/** Counters that a meter samples: frames and bytes of a direction so far. */
export interface Counted {
  readonly sent: number;
  readonly sentBytes: number;
}

/** The meters of a fabric that have something to sample: an idle one costs neither time nor memory. */
export class RateMeters {
  readonly times: SampleTimes;
  readonly #active = new Set<RateMeter>();

  constructor(nowMs: number) {
    this.times = new SampleTimes(nowMs);
  }

  add(meter: RateMeter): void {
    this.#active.add(meter);
  }

  /** Takes a sample of all that were counting in the last minute. */
  sample(nowMs: number): void {
    const slot = this.times.next(nowMs);
    const seconds = this.times.span(1)?.seconds ?? 0;
    for (const meter of this.#active) if (!meter.sample(slot, seconds)) this.#active.delete(meter);
  }
}

export class RateMeter {
  readonly #meters: RateMeters;
  readonly #of: Counted;
  readonly #onSample: ((seconds: number) => void) | undefined;
  /** Two numbers a sample, frames and bytes. Undefined: nothing was counted for so long that all samples are equal. */
  #ring: Float64Array | undefined;
  /** Samples since the counters have changed. */
  #unchanged = 0;

  /** `onSample` is called with each sample, `seconds` after the one before. */
  constructor(meters: RateMeters, of: Counted, onSample?: (seconds: number) => void) {
    this.#meters = meters;
    this.#of = of;
    this.#onSample = onSample;
  }

  /** Is called before frames are counted. */
  wake(): void {
    if (this.#ring) return;
    this.#ring = new Float64Array(2 * ringSize);
    for (let slot = 0; slot < ringSize; slot++) this.#note(this.#ring, slot);
    this.#unchanged = 0;
    this.#meters.add(this);
  }

  /** Takes the sample at this place of the ring. False: it has nothing to sample until `wake`. */
  sample(slot: number, seconds: number): boolean {
    const ring = this.#ring;
    if (!ring) return false;
    if (seconds > 0) this.#onSample?.(seconds);
    const before = ring[2 * ((slot + ringSize - 1) % ringSize)];
    this.#note(ring, slot);
    this.#unchanged = before === this.#of.sent ? this.#unchanged + 1 : 0;
    if (this.#unchanged >= ringSize) this.#ring = undefined;
    return this.#ring !== undefined;
  }

  read(): Rates {
    return { second: this.#over(1), minute: this.#over(minuteSamples) };
  }

  #note(ring: Float64Array, slot: number): void {
    ring[2 * slot] = this.#of.sent;
    ring[2 * slot + 1] = this.#of.sentBytes;
  }

  #over(count: number): Rates['second'] {
    const ring = this.#ring;
    const span = ring && this.#meters.times.span(count);
    if (!span || span.seconds <= 0) return { framesPerSecond: 0, bitsPerSecond: 0 };
    const perSecond = (offset: 0 | 1) =>
      ((ring[2 * span.to + offset] as number) - (ring[2 * span.from + offset] as number)) / span.seconds;
    return { framesPerSecond: perSecond(0), bitsPerSecond: 8 * perSecond(1) };
  }
}
