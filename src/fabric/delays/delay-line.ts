/**
 * The frames of one direction that wait for their time, in the order in which they came: a later frame is never due before an
 * earlier one. Frames lie length-prefixed in blocks, one after the other, so that what is due at the same time leaves as one run
 * without being copied again. Bounded; the caller of `put` counts what does not fit.
 */

import { type FrameAt, frameLength, headerBytes, maxFrameBytes } from '../frames.ts';
import type { DelayHistogram } from './delay-histogram.ts';

export const blockBytes = 128 * 1024;
const sparesKept = 32;
export const maxQueuedBytes = 64 * 1024 * 1024;

/** Blocks that lines have emptied, for all lines of a fabric. */
export class BlockPool {
  readonly #spares: Buffer[] = [];

  take(): Buffer {
    return this.#spares.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
  }

  give(block: Buffer): void {
    if (this.#spares.length < sparesKept) this.#spares.push(block);
  }
}

/** Frames that came together and are due together, side by side in one block. */
interface HeldRun {
  arrivedMs: number;
  dueMs: number;
  bytes: number;
  frames: number;
  /** The first of its block. */
  opensBlock: boolean;
}

/** A waiting frame, with its length before it. */
export interface WaitingFrame {
  readonly dueMs: number;
  readonly frame: Buffer;
}

/** Frames that wait. */
export interface HeldFrames {
  /** The run that `take` found: so many frames, in `block[start, end)`. */
  readonly block: Buffer;
  readonly start: number;
  readonly end: number;
  readonly taken: number;
  /** Frames that wait, and their bytes. */
  readonly frames: number;
  readonly bytes: number;
  /** Time at which the first frame is due; Infinity when none waits. */
  readonly nextDueMs: number;
  /** Copies the frame. False: there is no room. */
  push(frame: FrameAt, dueMs: number): boolean;
  /** Takes frames that are due. Call `settle` when their memory is no longer needed, and not again before. */
  take(nowMs: number): boolean;
  settle(): void;
}

export class DelayLine implements HeldFrames {
  block: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;
  taken = 0;
  frames = 0;
  bytes = 0;
  readonly #pool: BlockPool;
  readonly #waited: DelayHistogram;
  readonly #runs = new RunQueue();
  readonly #blocks: Buffer[] = [];
  #readAt = 0;
  #writeAt = blockBytes;
  /** Read to its end, but perhaps still being written from. */
  #retired: Buffer | undefined;

  /** `waited` records how long the frames that are taken had waited. */
  constructor(pool: BlockPool, waited: DelayHistogram) {
    this.#pool = pool;
    this.#waited = waited;
  }

  get nextDueMs(): number {
    return this.#runs.length === 0 ? Number.POSITIVE_INFINITY : this.#runs.first().dueMs;
  }

  push({ buffer, start, end, arrivedMs }: FrameAt, dueMs: number): boolean {
    const bytes = end - start;
    if (this.bytes + bytes > maxQueuedBytes || bytes > headerBytes + maxFrameBytes) return false;
    const opensBlock = this.#writeAt + bytes > blockBytes;
    if (opensBlock) {
      this.#blocks.push(this.#pool.take());
      this.#writeAt = 0;
    }
    const block = this.#blocks[this.#blocks.length - 1] as Buffer;
    buffer.copy(block, this.#writeAt, start, end);
    this.#writeAt += bytes;
    this.bytes += bytes;
    this.frames += 1;
    this.#runs.extend(arrivedMs, dueMs, bytes, opensBlock);
    return true;
  }

  /** The frames at the head that are due, as far as they lie in one block. */
  take(nowMs: number): boolean {
    if (this.nextDueMs > nowMs) return false;
    const runs = this.#runs;
    if (runs.first().opensBlock) this.#readAt = 0;
    this.block = this.#blocks[0] as Buffer;
    this.start = this.#readAt;
    this.taken = 0;
    do {
      const run = runs.first();
      this.#readAt += run.bytes;
      this.taken += run.frames;
      this.#waited.record(nowMs, nowMs - run.arrivedMs, run.frames);
      this.#waited.late.record(nowMs - run.dueMs, run.frames);
      runs.shift();
    } while (runs.length > 0 && !runs.first().opensBlock && runs.first().dueMs <= nowMs);
    this.end = this.#readAt;
    this.bytes -= this.end - this.start;
    this.frames -= this.taken;
    if (runs.length === 0 || runs.first().opensBlock) this.#retire();
    return true;
  }

  /** Time stood still for so long. */
  shift(ms: number): void {
    for (const run of this.#runs.all()) {
      run.arrivedMs += ms;
      run.dueMs += ms;
    }
  }

  /** Frames in their order; they are not copied. Frames may come meanwhile, none may leave. */
  *waiting(): Generator<WaitingFrame> {
    let [block, at] = [0, this.#readAt];
    let isFirst = true;
    for (const run of this.#runs.all()) {
      if (run.opensBlock) {
        if (!isFirst) block += 1;
        at = 0;
      }
      isFirst = false;
      const buffer = this.#blocks[block] as Buffer;
      // A run becomes longer when frames come meanwhile.
      for (const start = at; at < start + run.bytes; ) {
        const next = at + headerBytes + frameLength(buffer, at);
        yield { dueMs: run.dueMs, frame: buffer.subarray(at, next) };
        at = next;
      }
    }
  }

  settle(): void {
    if (!this.#retired) return;
    this.#pool.give(this.#retired);
    this.#retired = undefined;
  }

  #retire(): void {
    this.#retired = this.#blocks.shift();
    if (this.#blocks.length === 0) this.#writeAt = blockBytes;
  }
}

/** A ring of runs whose objects are used again, so that a frame costs no allocation. */
class RunQueue {
  length = 0;
  #ring: HeldRun[] = [];
  #head = 0;

  first(): HeldRun {
    return this.#ring[this.#head] as HeldRun;
  }

  *all(): Generator<HeldRun> {
    for (let index = 0; index < this.length; index++) yield this.#ring[(this.#head + index) & (this.#ring.length - 1)] as HeldRun;
  }

  shift(): void {
    this.#head = (this.#head + 1) & (this.#ring.length - 1);
    this.length -= 1;
    // A long queue is an exception; its ring is not kept for ever.
    if (this.length === 0 && this.#ring.length > 4096) {
      this.#ring = [];
      this.#head = 0;
    }
  }

  /** Adds a frame to the last run when it came and is due with it and lies in the same block, else begins a run. */
  extend(arrivedMs: number, dueMs: number, bytes: number, opensBlock: boolean): void {
    const last = this.length === 0 ? undefined : this.#ring[(this.#head + this.length - 1) & (this.#ring.length - 1)];
    if (last && !opensBlock && last.dueMs === dueMs && last.arrivedMs === arrivedMs) {
      last.bytes += bytes;
      last.frames += 1;
      return;
    }
    if (this.length === this.#ring.length) this.#grow();
    const run = this.#ring[(this.#head + this.length) & (this.#ring.length - 1)] as HeldRun;
    run.arrivedMs = arrivedMs;
    run.dueMs = dueMs;
    run.bytes = bytes;
    run.frames = 1;
    run.opensBlock = opensBlock;
    this.length += 1;
  }

  #grow(): void {
    const size = this.#ring.length;
    const ordered = Array.from({ length: size }, (_, index) => this.#ring[(this.#head + index) & (size - 1)] as HeldRun);
    const fresh = Array.from({ length: Math.max(16, size) }, () => ({
      arrivedMs: 0.5,
      dueMs: 0.5,
      bytes: 0,
      frames: 0,
      opensBlock: false,
    }));
    this.#ring = ordered.concat(fresh);
    this.#head = 0;
  }
}
