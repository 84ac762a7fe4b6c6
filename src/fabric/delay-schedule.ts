/** Which direction of which link has frames due next, over the whole fabric: a binary heap and the clock that wakes it. */
import { DelayClock } from './delay-clock.ts';

export interface Waiting {
  /** When to call `release`; must not change while it waits here. Ms of `performance.now()`. */
  readonly wakeMs: number;
  release(nowMs: number): void;
}

export class DelaySchedule {
  readonly #heap: Waiting[] = [];
  readonly #clock = new DelayClock(() => this.run(performance.now()));

  /** Settles when delays are kept precisely. */
  ready(): Promise<void> {
    return this.#clock.ready();
  }

  add(waiting: Waiting): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(waiting);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Waiting;
      if (above.wakeMs <= waiting.wakeMs) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = waiting;
    if (at === 0) this.#clock.wakeAt(waiting.wakeMs);
  }

  /** Releases what is due. */
  run(nowMs: number): void {
    let first = this.#heap[0];
    while (first && first.wakeMs <= nowMs) {
      this.#removeFirst();
      first.release(nowMs);
      first = this.#heap[0];
    }
    if (first) this.#clock.wakeAt(first.wakeMs);
  }

  /** The same, for whoever is awake anyway. */
  runIfDue(nowMs: number): void {
    const first = this.#heap[0];
    if (first && first.wakeMs <= nowMs) this.run(nowMs);
  }

  stop(): Promise<void> {
    this.#heap.length = 0;
    return this.#clock.stop();
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop() as Waiting;
    const size = heap.length;
    if (size === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && (heap[child + 1] as Waiting).wakeMs < (heap[child] as Waiting).wakeMs) child += 1;
      const below = heap[child] as Waiting;
      if (below.wakeMs >= last.wakeMs) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }
}
