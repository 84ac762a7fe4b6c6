/**
 * Empties the queues of switches: once in each turn of the event loop, never from within one another. However frames run in a circle
 * between switches, sockets and timers have their turn in between; a turn that takes long is broken off and continues in the next.
 */
import type { EgressQueue } from './egress-queue.ts';

/** Frames of links that have nothing to do with it wait so long at most, and for one queue more. */
const sliceMs = 2;

export class FlushTurns {
  readonly #onTurn = () => this.#turn();
  #waiting: EgressQueue[] = [];
  #turning: EgressQueue[] = [];
  #isScheduled = false;

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
    const limitMs = performance.now() + sliceMs;
    let done = 0;
    for (const queue of queues) {
      done += 1;
      queue.isWaiting = false;
      queue.flush();
      if (performance.now() > limitMs) break;
    }
    if (done < queues.length) this.#waiting = [...queues.slice(done), ...this.#waiting];
    queues.length = 0;
    this.#turning = queues;
    if (this.#waiting.length > 0) this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#onTurn);
  }
}
