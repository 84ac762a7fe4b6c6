/**
 * The frames of one direction that wait for their time and may overtake each other. Each is a copy of its own; what is due is put
 * together in one block, to be written at once.
 */
import { Heap, outside, type Placed } from '../../lib/heap.ts';
import type { FrameAt } from '../frames.ts';
import type { DelayHistogram } from './delay-histogram.ts';
import { type BlockPool, blockBytes, type HeldFrames, maxQueuedBytes, type WaitingFrame } from './delay-line.ts';

interface HeldFrame extends Placed {
  arrivedMs: number;
  dueMs: number;
  /** Counts all frames that came: first come, first served. */
  readonly number: number;
  readonly frame: Buffer;
}

export class DelayHeap implements HeldFrames {
  block: Buffer = Buffer.alloc(0);
  readonly start = 0;
  end = 0;
  taken = 0;
  bytes = 0;
  readonly #pool: BlockPool;
  readonly #waited: DelayHistogram;
  readonly #held = new Heap<HeldFrame>((one, other) => inOrder(one, other) < 0);
  #number = 0;
  #inUse: Buffer | undefined;

  constructor(pool: BlockPool, waited: DelayHistogram) {
    this.#pool = pool;
    this.#waited = waited;
  }

  get frames(): number {
    return this.#held.length;
  }

  get nextDueMs(): number {
    return this.#held.first?.dueMs ?? Number.POSITIVE_INFINITY;
  }

  push({ buffer, start, end, arrivedMs }: FrameAt, dueMs: number): boolean {
    if (this.bytes + end - start > maxQueuedBytes) return false;
    const frame = Buffer.from(buffer.subarray(start, end));
    this.#number += 1;
    this.bytes += frame.length;
    this.#held.push({ arrivedMs, dueMs, number: this.#number, frame, place: outside });
    return true;
  }

  take(nowMs: number): boolean {
    if (this.nextDueMs > nowMs) return false;
    const block = this.#pool.take();
    this.#inUse = block;
    this.block = block;
    this.end = 0;
    this.taken = 0;
    for (let next = this.#held.first; next; next = this.#held.first) {
      if (next.dueMs > nowMs || this.end + next.frame.length > blockBytes) break;
      this.end += next.frame.copy(block, this.end);
      this.taken += 1;
      this.#waited.record(nowMs, nowMs - next.arrivedMs, 1);
      this.#waited.late.record(nowMs - next.dueMs, 1);
      this.#held.shift();
    }
    this.bytes -= this.end;
    return true;
  }

  /** Time stood still for so long. */
  shift(ms: number): void {
    for (const held of this.#held.values()) {
      held.arrivedMs += ms;
      held.dueMs += ms;
    }
  }

  /** Frames in the order in which they leave; they are not copied. */
  *waiting(): Generator<WaitingFrame> {
    for (const { dueMs, frame } of [...this.#held.values()].sort(inOrder)) yield { dueMs, frame };
  }

  settle(): void {
    if (!this.#inUse) return;
    this.#pool.give(this.#inUse);
    this.#inUse = undefined;
  }
}

function inOrder(one: HeldFrame, other: HeldFrame): number {
  return one.dueMs - other.dueMs || one.number - other.number;
}
