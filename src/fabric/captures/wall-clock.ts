/**
 * The time of day with the resolution of the monotonic clock. `Date.now()` has whole milliseconds only; the two clocks are disciplined
 * alike, so they drift apart only when the time is set.
 */

/** A difference between the clocks that only setting the time makes. */
const stepMs = 5;

export class WallClock {
  #offsetMs = performance.timeOrigin;

  /** Reads the time since 1970, UTC. */
  read(): { seconds: number; nanoseconds: number } {
    const elapsedMs = performance.now();
    const dayMs = Date.now();
    if (Math.abs(this.#offsetMs + elapsedMs - dayMs) > stepMs) this.#offsetMs = dayMs - elapsedMs;
    const wholeMs = Math.floor(this.#offsetMs) + Math.floor(elapsedMs);
    const restMs = this.#offsetMs - Math.floor(this.#offsetMs) + (elapsedMs - Math.floor(elapsedMs));
    const nanos = (wholeMs % 1000) * 1e6 + Math.floor(restMs * 1e6);
    const seconds = Math.floor(wholeMs / 1000);
    return nanos < 1e9 ? { seconds, nanoseconds: nanos } : { seconds: seconds + 1, nanoseconds: nanos - 1e9 };
  }
}
