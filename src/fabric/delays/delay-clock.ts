/**
 * Wakes the event loop at a given moment, some tens of microseconds late at most; Node's own timers are 1 ms coarse.
 *
 * Theory of operation: a helper thread sleeps with Atomics.wait on one shared word. The word holds the next deadline (see
 * `deadlineOf`); when it is reached the thread puts `lookingOn` there and posts a message. For a moment it then looks by itself
 * whether there is another deadline, then puts `asleep` there and sleeps. This side writes the word whenever the next deadline is
 * another one, and wakes the thread only when it is asleep or the deadline comes nearer: waking costs more than all the rest.
 */
import { Worker } from 'node:worker_threads';
import { asleep, deadlines, lookingOn } from './deadline.ts';

/** A thread that ended, for want of memory perhaps, is started again after so long. */
const restartMs = 500;
/** Deadlines further away look like the past. */
const furthestMs = 60_000;

export class DelayClock {
  readonly #onTime: () => void;
  readonly #deadlineOf = deadlines();
  readonly #word = new Int32Array(new SharedArrayBuffer(4));
  #thread: Worker | undefined;
  #ready: Promise<void> | undefined;

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
      thread.on('message', () => this.#onTime());
      thread.on('error', (error) => process.emitWarning(error));
      thread.once('exit', () => {
        settle();
        if (this.#thread === thread) setTimeout(() => this.#restart(thread), restartMs);
      });
    });
    return this.#ready;
  }

  /** Calls back at `dueMs` (of `performance.now()`) or soon after, and perhaps also before, in place of what was asked for last. */
  wakeAt(dueMs: number): void {
    void this.ready();
    const deadline = this.#deadlineOf(Math.min(dueMs, performance.now() + furthestMs));
    const before = Atomics.exchange(this.#word, 0, deadline);
    if (before === lookingOn) return;
    // The thread finds a later deadline by itself when the earlier one comes.
    if (before === asleep || ((deadline - before) | 0) < 0) Atomics.notify(this.#word, 0);
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
