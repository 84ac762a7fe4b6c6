/**
 * Wakes the event loop just before a given moment, by a timer of the kernel, which the loop waits for as for a socket; Node's own timers
 * are 1 ms coarse.
 */
import { getSystemErrorName } from 'node:util';

/** The system calls for it, of `ports/native.ts`. */
export interface ClockCalls {
  openTimer(): number;
  setTimer(descriptor: number, atMs: number): number;
  watch(descriptor: number, onReadable: () => void): { close(): void };
  close(descriptor: number): void;
}

const never = Number.POSITIVE_INFINITY;

export class TimerClock {
  readonly #onTime: () => void;
  readonly #calls: ClockCalls;
  readonly #descriptor: number;
  readonly #watch: { close(): void };
  readonly #offsetMs = monotonicOffsetMs();
  readonly #lead = new WakeLead();
  /** Time to which the timer is set, of `performance.now()`. */
  #wakeMs = never;

  /** @throws Error when the kernel has no timer left */
  constructor(calls: ClockCalls, onTime: () => void) {
    this.#calls = calls;
    this.#descriptor = calls.openTimer();
    if (this.#descriptor < 0) throw new Error(`a timer cannot be opened (${getSystemErrorName(this.#descriptor)})`);
    this.#onTime = onTime;
    this.#watch = calls.watch(this.#descriptor, () => this.#woken());
  }

  /** Lead of the event loop, if it is to be awake at a moment at all. */
  get leadMs(): number {
    return this.#lead.ms;
  }

  /** Calls back at `dueMs` (of `performance.now()`) or a moment before or after, in place of what was asked for last. */
  wakeAt(dueMs: number, nowMs: number): void {
    const wakeMs = Math.max(nowMs, dueMs - this.#lead.ms);
    if (wakeMs === this.#wakeMs) return;
    this.#wakeMs = wakeMs;
    this.#calls.setTimer(this.#descriptor, wakeMs + this.#offsetMs);
  }

  stop(): void {
    this.#watch.close();
    this.#calls.close(this.#descriptor);
  }

  #woken(): void {
    this.#lead.note(performance.now() - this.#wakeMs);
    this.#wakeMs = never;
    this.#onTime();
    // A timer that was not set again would stay readable.
    if (this.#wakeMs === never) this.#calls.setTimer(this.#descriptor, 0);
  }
}

/**
 * Measures the offset of the monotonic clock to `performance.now()` of this thread. Time between the two readings only makes it smaller, by
 * a third of a millisecond the first time: the largest of several readings is right.
 */
function monotonicOffsetMs(): number {
  const one = () => Number(process.hrtime.bigint()) / 1e6 - performance.now();
  return Math.max(...Array.from({ length: 10 }, one));
}

/** A process that is woken later than this waits for a processor: waking it earlier does not help. */
const mostMs = 0.05;
const stepMs = 0.0005;

/**
 * Estimates the lead of a clock over the moment at which the event loop must be awake: the median of recent wake-up times. It moves by
 * constant steps, so extreme times have no more weight than others.
 */
class WakeLead {
  ms = 0;

  /** The event loop was awake so long after the time to which the clock was set. */
  note(tookMs: number): void {
    // Less than 0: of a time that was replaced meanwhile.
    if (tookMs <= 0) return;
    const isLonger = tookMs > this.ms && tookMs < mostMs;
    this.ms = Math.max(0, this.ms + (isLonger ? stepMs : -stepMs));
  }
}
