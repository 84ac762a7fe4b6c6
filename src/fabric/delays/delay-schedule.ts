/**
 * Which direction of which link has frames due next, over the whole fabric: a binary heap and the clock that wakes it. The clock does so a
 * little early; for the rest the event loop turns without sleeping, so that frames that come meanwhile are read.
 */
import { Heap, outside, type Placed } from '../../lib/heap.ts';
import { DelayClock, type WakeClock } from './delay-clock.ts';
import { type ClockCalls, TimerClock } from './timer-clock.ts';

export interface ScheduledQueue extends Placed {
  /** When `release` is to be called; written by the schedule alone. Ms of `performance.now()`. */
  wakeMs: number;
  release(): void;
}

export class DelaySchedule {
  readonly #heap = new Heap<ScheduledQueue>((one, other) => one.wakeMs < other.wakeMs);
  readonly #clock: WakeClock;
  readonly #onTurn = () => this.#endTurn();
  #isTurning = false;
  #isRunning = false;

  /** Without `calls` a thread keeps the time. */
  constructor(calls: ClockCalls | undefined) {
    const onTime = () => this.run(performance.now());
    this.#clock = (calls && TimerClock.open(calls, onTime)) ?? new DelayClock(onTime);
  }

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

  /** The same, for a caller that is awake anyway, be it because of what is released: the rest of that follows by itself. */
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

  stop(): Promise<void> {
    this.#heap.clear();
    return this.#clock.stop();
  }
}
