/** Which direction of which link has frames due next, over the whole fabric: a binary heap and the clock that wakes it. */
import { Heap, outside, type Placed } from '../../lib/heap.ts';
import { DelayClock } from './delay-clock.ts';

export interface ScheduledQueue extends Placed {
  /** When `release` is to be called; written by the schedule alone. Ms of `performance.now()`. */
  wakeMs: number;
  release(): void;
}

export class DelaySchedule {
  readonly #heap = new Heap<ScheduledQueue>((one, other) => one.wakeMs < other.wakeMs);
  readonly #clock = new DelayClock(() => this.run(performance.now()));

  /** When something is to be released next; Infinity when nothing waits. */
  get nextMs(): number {
    return this.#heap.first?.wakeMs ?? Number.POSITIVE_INFINITY;
  }

  /** Settles when delays are kept precisely. */
  ready(): Promise<void> {
    return this.#clock.ready();
  }

  /** Releases `waiting` at `timeMs`, or earlier when that was asked for before. */
  add(waiting: ScheduledQueue, timeMs: number): void {
    const heap = this.#heap;
    if (waiting.place === outside) {
      waiting.wakeMs = timeMs;
      heap.push(waiting);
    } else {
      if (waiting.wakeMs <= timeMs) return;
      waiting.wakeMs = timeMs;
      heap.advanced(waiting);
    }
    if (heap.first === waiting) this.#clock.wakeAt(timeMs);
  }

  /** Releases what is due. */
  run(nowMs: number): void {
    const heap = this.#heap;
    while (heap.first && heap.first.wakeMs <= nowMs) heap.shift()?.release();
    if (heap.first) this.#clock.wakeAt(heap.first.wakeMs);
  }

  /** The same, for a caller that is awake anyway. */
  runIfDue(nowMs: number): void {
    const { first } = this.#heap;
    if (first && first.wakeMs <= nowMs) this.run(nowMs);
  }

  stop(): Promise<void> {
    this.#heap.clear();
    return this.#clock.stop();
  }
}
