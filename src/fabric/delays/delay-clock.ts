/**
 * A `WakeClock` by a thread, where there are no foreign calls for a timer of the kernel (`timer-clock.ts`).
 *
 * Theory of operation: a helper thread sleeps with Atomics.wait on one shared word. The word holds the next deadline (see
 * `deadlineOf`); when it is reached the thread puts `lookingOn` there and posts a message. For a moment it then looks by itself
 * whether there is another deadline, then puts `asleep` there and sleeps. This side writes the word whenever the next deadline is
 * another one, and wakes the thread only when it is asleep or the deadline comes nearer: waking costs more than all the rest.
 */
import { Worker } from 'node:worker_threads';
import { asleep, deadlines, lookingOn } from './deadline.ts';
import { WakeLead } from './wake-lead.ts';

/** Wakes the event loop just before a given moment; Node's own timers are 1 ms coarse. */
export interface WakeClock {
  /** So much before a moment the event loop is awake, if it is to be at all. */
  readonly leadMs: number;
  /** Settles when it keeps time. */
  ready(): Promise<void>;
  /**
   * Calls back at `dueMs` (of `performance.now()`) or a moment before or after, and perhaps also much earlier, in place of what was asked
   * for last.
   */
  wakeAt(dueMs: number, nowMs: number): void;
  stop(): Promise<void>;
}

/** A thread that ended, for want of memory perhaps, is started again after so long. */
const restartMs = 500;
/** Deadlines further away look like the past. */
const furthestMs = 60_000;

export class DelayClock implements WakeClock {
  readonly #onTime: () => void;
  readonly #deadlineOf = deadlines();
  readonly #word = new Int32Array(new SharedArrayBuffer(4));
  #thread: Worker | undefined;
  #ready: Promise<void> | undefined;
  readonly #lead = new WakeLead();
  /** When the thread is to wake the event loop; later than it can, if it is already past when that is asked for. */
  #wakeMs = 0.5;

  constructor(onTime: () => void) {
    this.#onTime = onTime;
  }

  /** Starts the thread, if it has not been, and settles when it keeps time. */
  ready(): Promise<void> {
    this.#ready ??= new Promise((settle) => {
      const thread = new Worker(new URL('./delay-clock-thread.ts', import.meta.url), { workerData: this.#word.buffer });
      this.#thread = thread;
      thread.unref();
      thread.once('online', () => settle());
      thread.on('message', () => this.#woken());
      thread.on('error', (error) => process.emitWarning(error));
      thread.once('exit', () => {
        settle();
        if (this.#thread === thread) setTimeout(() => this.#restart(thread), restartMs);
      });
    });
    return this.#ready;
  }

  get leadMs(): number {
    return this.#lead.ms;
  }

  wakeAt(dueMs: number, nowMs: number): void {
    void this.ready();
    this.#wakeMs = Math.max(nowMs, dueMs - this.#lead.ms);
    const deadline = this.#deadlineOf(Math.min(this.#wakeMs, nowMs + furthestMs));
    const before = Atomics.exchange(this.#word, 0, deadline);
    if (before === lookingOn) return;
    // The thread finds a later deadline by itself when the earlier one comes.
    if (before === asleep || ((deadline - before) | 0) < 0) Atomics.notify(this.#word, 0);
  }

  #woken(): void {
    this.#lead.note(performance.now() - this.#wakeMs);
    this.#onTime();
  }

  #restart(ended: Worker): void {
    if (this.#thread !== ended) return;
    this.#ready = undefined;
    void this.ready();
    Atomics.store(this.#word, 0, this.#deadlineOf(performance.now()));
  }

  async stop(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }
}
