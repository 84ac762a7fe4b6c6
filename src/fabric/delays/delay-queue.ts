/**
 * The frames of one direction that wait, for whatever reason: in order in a `DelayLine`, in a `DelayHeap` when the jitter lets them
 * overtake, or aside until others have overtaken them.
 *
 * A change of the filters leaves alone what waits already. As long as order is to be kept no frame is due before one that came before
 * it, wherever that one waits.
 */

import { type Filter, lost } from '../filters/filter.ts';
import { type FrameAt, headerBytes } from '../frames.ts';
import { DelayHeap } from './delay-heap.ts';
import { DelayHistogram } from './delay-histogram.ts';
import { type BlockPool, DelayLine, type HeldFrames, type WaitingFrame } from './delay-line.ts';

/** Filters that decide how long frames wait. */
export interface Waits {
  readonly displacing: Filter | undefined;
  readonly holding: readonly { readonly type: string; readonly filter: Filter }[];
  readonly overtakes: boolean;
}

/** A frame that lets others overtake it leaves after this time at the latest. */
const asideMs = 100;
/** Every frame counts down all of them. */
const maxAside = 1024;

/** Lead of a restored frame over another that is due at the same time: the frame due earlier leaves first. Milliseconds. */
const ahead = 0.001;

interface AsideFrame extends FrameAt {
  /** Number of frames that have still to overtake it. */
  toCome: number;
}

export class DelayQueue {
  /** Waiting times of the frames that have left. */
  readonly waited = new DelayHistogram();
  readonly #onLost: (cause: string, frame: FrameAt) => void;
  readonly #line: DelayLine;
  readonly #heap: DelayHeap;
  /** Frames that let others overtake them, in the order in which they came. */
  #aside: AsideFrame[] = [];
  #asideBytes = 0;
  #lastDueMs = 0;
  /** Container of the last run that was taken. */
  #from: HeldFrames;

  constructor(pool: BlockPool, onLost: (cause: string, frame: FrameAt) => void) {
    this.#onLost = onLost;
    this.#line = new DelayLine(pool, this.waited);
    this.#heap = new DelayHeap(pool, this.waited);
    this.#from = this.#line;
  }

  get frames(): number {
    return this.#line.frames + this.#heap.frames + this.#aside.length;
  }

  get bytes(): number {
    return this.#line.bytes + this.#heap.bytes + this.#asideBytes;
  }

  /** Time at which something is to be done next; Infinity when nothing waits. */
  get nextDueMs(): number {
    const [first] = this.#aside;
    return Math.min(this.#line.nextDueMs, this.#heap.nextDueMs, first ? first.arrivedMs + asideMs : Number.POSITIVE_INFINITY);
  }

  /** The run that `take` found. */
  get run(): HeldFrames {
    return this.#from;
  }

  /** Copies the frame, which comes now. */
  push(frame: FrameAt, waits: Waits): void {
    const { buffer, start, end, arrivedMs } = frame;
    const gap = waits.displacing?.displace?.() ?? 0;
    if (gap > 0 && this.#aside.length < maxAside) {
      const copy = Buffer.from(buffer.subarray(start, end));
      this.#aside.push({ buffer: copy, start: 0, end: copy.length, arrivedMs, toCome: gap });
      this.#asideBytes += copy.length;
      return;
    }
    this.#hold(frame, arrivedMs, waits);
    if (this.#aside.length === 0) return;
    for (const aside of this.#aside) aside.toCome -= 1;
    this.#return(arrivedMs, waits);
  }

  /** Copies a frame that comes now and waits for nothing but the sink: it overtakes those that wait for their time. */
  bypass(frame: FrameAt): void {
    if (!this.#heap.push(frame, frame.arrivedMs)) this.#onLost('queue_full', frame);
  }

  /**
   * Takes frames that are due, a run in one block: see `run`. Call `settle` when the memory is no longer needed, and not again before.
   */
  take(nowMs: number, waits: Waits): boolean {
    if (this.#aside.length > 0) this.#return(nowMs, waits);
    this.#from = this.#heap.nextDueMs < this.#line.nextDueMs ? this.#heap : this.#line;
    return this.#from.take(nowMs);
  }

  settle(): void {
    this.#from.settle();
  }

  /** Time stood still for so long: what waits waits longer. */
  shift(ms: number): void {
    this.#line.shift(ms);
    this.#heap.shift(ms);
    for (const aside of this.#aside) aside.arrivedMs += ms;
    this.#lastDueMs += ms;
  }

  /**
   * All waiting frames. Frames that are due together keep their order; they are not copied. A frame that lets others overtake it is due at
   * once.
   */
  *waiting(): Generator<WaitingFrame> {
    yield* this.#line.waiting();
    yield* this.#heap.waiting();
    for (const { buffer, arrivedMs } of this.#aside) yield { dueMs: arrivedMs, frame: buffer };
  }

  /** Adds a frame that waited elsewhere, and came before all that wait here. */
  restore(frame: FrameAt, dueMs: number): void {
    if (!this.#heap.push(frame, dueMs - ahead)) this.#onLost('queue_full', frame);
    else if (dueMs > this.#lastDueMs) this.#lastDueMs = dueMs;
  }

  /** Releases the frames that were overtaken, or waited long enough for it. */
  #return(nowMs: number, waits: Waits): void {
    const isBack = ({ toCome, arrivedMs }: AsideFrame) => toCome <= 0 || arrivedMs + asideMs <= nowMs;
    if (!this.#aside.some(isBack)) return;
    const back = this.#aside.filter(isBack);
    this.#aside = this.#aside.filter((aside) => !isBack(aside));
    for (const aside of back) {
      this.#asideBytes -= aside.end;
      this.#hold(aside, nowMs, waits);
    }
  }

  #hold(frame: FrameAt, nowMs: number, waits: Waits): void {
    let dueMs = nowMs;
    for (const { filter, type } of waits.holding) {
      dueMs = filter.hold?.(dueMs, frame.end - frame.start - headerBytes) ?? dueMs;
      if (dueMs === lost) {
        this.#onLost(type, frame);
        return;
      }
    }
    if (!waits.overtakes && dueMs < this.#lastDueMs) dueMs = this.#lastDueMs;
    // A new frame joins the heap while frames wait there: frames in the line leave before all of them.
    const line = waits.overtakes || this.#heap.frames > 0 ? this.#heap : this.#line;
    if (!line.push(frame, dueMs)) this.#onLost('queue_full', frame);
    else if (dueMs > this.#lastDueMs) this.#lastDueMs = dueMs;
  }
}
