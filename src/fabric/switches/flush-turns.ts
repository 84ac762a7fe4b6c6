/**
 * Empties the queues of switches: once in each turn of the event loop, never from within one another. However frames run in a circle
 * between switches, sockets and timers have their turn in between; a turn that takes long is broken off and continues in the next.
 */
import type { EgressQueue } from './egress-queue.ts';

/** Frames of links that have nothing to do with it wait so long at most, and for one queue more. */
const sliceMs = 2;

export class FlushTurns {
  /** Is given the time that a turn of the event loop took, from its first queue to its last one, in milliseconds. */
  readonly #onTook: ((tookMs: number) => void) | undefined;
  #scheduledMs = 0;
  readonly #onTurn = () => this.#turn();
  #waiting: EgressQueue[] = [];
  #turning: EgressQueue[] = [];
  #isScheduled = false;

  constructor(onTook?: (tookMs: number) => void) {
    this.#onTook = onTook;
  }

  add(queue: EgressQueue): void {
    if (queue.isWaiting) return;
    queue.isWaiting = true;
    this.#waiting.push(queue);
    this.#schedule();
  }

  #turn(): void {
    this.#isScheduled = false;
    const queues = this.#waiting;
    this.#waiting = this.#turning;
    let nowMs = performance.now();
    const sinceMs = this.#scheduledMs;
    const limitMs = nowMs + sliceMs;
    let done = 0;
    for (const queue of queues) {
      done += 1;
      queue.isWaiting = false;
      queue.flush();
      nowMs = performance.now();
      if (nowMs > limitMs) break;
    }
    this.#onTook?.(nowMs - sinceMs);
    if (done < queues.length) this.#waiting = [...queues.slice(done), ...this.#waiting];
    queues.length = 0;
    this.#turning = queues;
    // Queues that filled meanwhile have scheduled the next turn already: it counts from here as well.
    this.#scheduledMs = nowMs;
    if (this.#waiting.length > 0) this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (this.#onTook) this.#scheduledMs = performance.now();
    setImmediate(this.#onTurn);
  }
}
