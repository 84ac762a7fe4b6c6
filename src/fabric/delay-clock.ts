/**
 * Wakes the event loop at a given moment, some tens of microseconds late at most; Node's own timers are 1 ms coarse.
 *
 * Theory of operation: a helper thread sleeps with Atomics.wait on one shared word, which holds the deadline: microseconds of the
 * monotonic clock modulo 2^32, 0 for none. This side writes the word and wakes the thread when the deadline comes nearer; the thread,
 * when it is reached, puts 0 there and posts a message. Deadlines are less than half the range (35 minutes) away.
 */
import { Worker } from 'node:worker_threads';
import { monotonicMicros } from './monotonic.ts';

export class DelayClock {
  readonly #onTime: () => void;
  readonly #micros = monotonicMicros();
  readonly #word = new Int32Array(new SharedArrayBuffer(4));
  #thread: Worker | undefined;
  #ready: Promise<void> | undefined;
  #armedMs = Number.POSITIVE_INFINITY;

  #firedMs = 0;
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
      thread.on('message', () => this.#fired());
      thread.on('error', (error) => process.emitWarning(error));
      thread.once('exit', () => {
        if (this.#thread !== thread) return;
        this.#ready = undefined;
        void this.ready();
        settle();
      });
    });
    return this.#ready;
  }

  /** Calls back at `dueMs` (of `performance.now()`) or soon after; an earlier time that was asked for stays in force. */
  wakeAt(dueMs: number): void {
    if (dueMs >= this.#armedMs) return;
    const wakeMs = Math.max(dueMs, this.#firedMs + Number(process.env.GAP ?? 0));
    this.#armedMs = wakeMs;
    void this.ready();
    Atomics.store(this.#word, 0, this.#micros(wakeMs) || 1);
    Atomics.notify(this.#word, 0);
  }

  async stop(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }

  #fired(): void {
    this.#firedMs = performance.now();
    this.#armedMs = Number.POSITIVE_INFINITY;
    this.#onTime();
  }
}
