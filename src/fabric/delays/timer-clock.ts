/** A `WakeClock` by a timer of the kernel, which the event loop waits for as for a socket. */
import { monotonicOffsetMs } from './deadline.ts';
import type { WakeClock } from './delay-clock.ts';
import { WakeLead } from './wake-lead.ts';

/** The system calls for it, of `ports/native.ts`. */
export interface ClockCalls {
  openTimer(): number;
  setTimer(descriptor: number, atMs: number): number;
  watch(descriptor: number, onReadable: () => void): { close(): void };
  close(descriptor: number): void;
}

const never = Number.POSITIVE_INFINITY;

export class TimerClock implements WakeClock {
  readonly #onTime: () => void;
  readonly #calls: ClockCalls;
  readonly #descriptor: number;
  readonly #watch: { close(): void };
  readonly #offsetMs = monotonicOffsetMs();
  readonly #lead = new WakeLead();
  /** What the timer is set to, of `performance.now()`. */
  #wakeMs = never;

  private constructor(calls: ClockCalls, descriptor: number, onTime: () => void) {
    this.#calls = calls;
    this.#descriptor = descriptor;
    this.#onTime = onTime;
    this.#watch = calls.watch(descriptor, () => this.#woken());
  }

  /** Undefined where the kernel has no timer for us. */
  static open(calls: ClockCalls, onTime: () => void): TimerClock | undefined {
    const descriptor = calls.openTimer();
    return descriptor < 0 ? undefined : new TimerClock(calls, descriptor, onTime);
  }

  get leadMs(): number {
    return this.#lead.ms;
  }

  async ready(): Promise<void> {}

  wakeAt(dueMs: number, nowMs: number): void {
    const wakeMs = Math.max(nowMs, dueMs - this.#lead.ms);
    if (wakeMs === this.#wakeMs) return;
    this.#wakeMs = wakeMs;
    this.#calls.setTimer(this.#descriptor, wakeMs + this.#offsetMs);
  }

  async stop(): Promise<void> {
    this.#watch.close();
    this.#calls.close(this.#descriptor);
  }

  #woken(): void {
    this.#lead.note(performance.now() - this.#wakeMs);
    this.#wakeMs = never;
    this.#onTime();
    // Else it stays readable.
    if (this.#wakeMs === never) this.#calls.setTimer(this.#descriptor, 0);
  }
}
