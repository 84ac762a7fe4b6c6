/**
 * A heap of the directions that have frames due, over all links, and the clock that wakes the fabric for the next one. The clock does so a
 * little early; then the event loop turns without sleeping, so that frames that come meanwhile are read.
 */
import { Heap, outside, type Placed } from '../../lib/heap.ts';
import { type ClockCalls, TimerClock } from './timer-clock.ts';

export interface ScheduledQueue extends Placed {
  /** Time at which `release` is to be called; written by the schedule alone. Ms of `performance.now()`. */
  wakeMs: number;
  release(): void;
}

export class DelaySchedule {
  readonly #heap = new Heap<ScheduledQueue>((one, other) => one.wakeMs < other.wakeMs);
  readonly #clock: TimerClock;
  readonly #onTurn = () => this.#endTurn();
  #isTurning = false;
  #isRunning = false;

  /** Opens the kernel's timer with `calls`. @throws Error when it has none left */
  constructor(calls: ClockCalls) {
    this.#clock = new TimerClock(calls, () => this.run(performance.now()));
  }

  /** Time of the next release; Infinity when nothing waits. */
  get nextMs(): number {
    return this.#heap.first?.wakeMs ?? Number.POSITIVE_INFINITY;
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
    if (heap.first === waiting && !this.#isRunning) this.#await(timeMs, performance.now());
  }

  /** Releases what is due. */
  run(nowMs: number): void {
    const heap = this.#heap;
    this.#isRunning = true;
    try {
      while (heap.first && heap.first.wakeMs <= nowMs) heap.shift()?.release();
    } finally {
      this.#isRunning = false;
      if (heap.first) this.#await(heap.first.wakeMs, performance.now());
    }
  }

  /**
   * Releases the due directions for a caller that is awake anyway. A call during a release does nothing: `run` releases the others itself.
   */
  runIfDue(nowMs: number): void {
    const { first } = this.#heap;
    if (!this.#isRunning && first && first.wakeMs <= nowMs) this.run(nowMs);
  }

  #await(timeMs: number, nowMs: number): void {
    if (timeMs - nowMs > this.#clock.leadMs) this.#clock.wakeAt(timeMs, nowMs);
    else if (!this.#isTurning) {
      this.#isTurning = true;
      setImmediate(this.#onTurn);
    }
  }

  #endTurn(): void {
    this.#isTurning = false;
    this.run(performance.now());
  }

  stop(): void {
    this.#heap.clear();
    this.#clock.stop();
  }
}
