import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Filter, lost } from '../filters/filter.ts';
import { type FrameAt, frameLength, headerBytes, putFrameLength } from '../frames.ts';
import { BlockPool, maxQueuedBytes } from './delay-line.ts';
import { DelayQueue, type Waits } from './delay-queue.ts';

/** A queue whose frames have numbers, at times of the test's own. */
class Bed {
  readonly losses: string[] = [];
  readonly queue = new DelayQueue(new BlockPool(), (cause) => this.losses.push(cause));

  push(number: number, arrivedMs: number, waits: Waits, length = 60): void {
    const frame = frameOf(number, arrivedMs, length);
    this.queue.push(frame, waits);
    frame.buffer.fill(0);
  }

  restore(number: number, dueMs: number): void {
    this.queue.restore(frameOf(number, 0, 60), dueMs);
  }

  /** Takes all that is due; the numbers in order. */
  take(nowMs: number, waits: Waits): number[] {
    const numbers: number[] = [];
    while (this.queue.take(nowMs, waits)) {
      const { block, start, end } = this.queue.run;
      for (let at = start; at < end; at += headerBytes + frameLength(block, at)) {
        numbers.push(block.readUInt32BE(at + headerBytes));
      }
      this.queue.settle();
    }
    return numbers;
  }
}

function frameOf(number: number, arrivedMs: number, length: number): FrameAt {
  const buffer = Buffer.alloc(headerBytes + length);
  putFrameLength(buffer, 0, length);
  buffer.writeUInt32BE(number, headerBytes);
  return { buffer, start: 0, end: buffer.length, arrivedMs };
}

function waitsOf(more: { hold?: Filter['hold']; overtakes?: boolean; gaps?: number[] }): Waits {
  const { hold, overtakes = false, gaps } = more;
  return {
    displacing: gaps && { displace: () => gaps.shift() ?? 0 },
    holding: hold ? [{ type: 'delay', filter: { hold } }] : [],
    overtakes,
  };
}
const upTo = (count: number, first = 0) => Array.from({ length: count }, (_, index) => first + index);

describe('delay queue', () => {
  it('keeps order unless frames may overtake', () => {
    const delays = [30, 10, 20, 5];
    const hold = (atMs: number) => atMs + (delays.shift() ?? 0);
    const kept = new Bed();
    for (const number of upTo(4)) kept.push(number, 0, waitsOf({ hold }));
    assert.deepEqual(kept.take(29, waitsOf({})), []);
    assert.deepEqual(kept.take(30, waitsOf({})), [0, 1, 2, 3]);
    delays.push(30, 10, 20, 5, 20);
    const free = new Bed();
    for (const number of upTo(5)) free.push(number, 0, waitsOf({ hold, overtakes: true }));
    assert.equal(free.queue.nextDueMs, 5);
    assert.deepEqual(free.take(15, waitsOf({})), [3, 1]);
    assert.deepEqual(free.take(40, waitsOf({})), [2, 4, 0]);
    assert.deepEqual([free.queue.frames, free.queue.bytes], [0, 0]);
  });

  it('lets nothing overtake what waits from a time when it was allowed', () => {
    const bed = new Bed();
    bed.push(0, 0, waitsOf({ hold: (atMs) => atMs + 50, overtakes: true }));
    bed.push(1, 1, waitsOf({}));
    assert.deepEqual(bed.take(49, waitsOf({})), []);
    assert.deepEqual(bed.take(50, waitsOf({})), [0, 1]);
  });

  it('lets nothing overtake a frame that waited elsewhere', () => {
    const bed = new Bed();
    bed.restore(0, 100);
    bed.push(1, 1, waitsOf({ hold: (atMs) => atMs + 50 }));
    assert.deepEqual(bed.take(99, waitsOf({})), []);
    assert.deepEqual(bed.take(100, waitsOf({})), [0, 1]);
  });

  it('names what waits in its order, also of frames that are due together', () => {
    const bed = new Bed();
    const waits = waitsOf({ hold: () => 50, overtakes: true });
    for (const number of upTo(9)) bed.push(number, number, waits);
    // Leaves the heap in another order than that of the frames.
    bed.push(9, 9, waitsOf({ hold: () => 10, overtakes: true }));
    bed.take(10, waits);
    assert.deepEqual(
      Array.from(bed.queue.waiting(), ({ frame }) => frame.readUInt32BE(headerBytes)),
      upTo(9),
    );
  });

  it('gives back in runs of blocks what may overtake, however much it is', () => {
    const bed = new Bed();
    const waits = waitsOf({ hold: (atMs) => 1000 - atMs, overtakes: true });
    for (const number of upTo(500)) bed.push(number, number, waits, 1500);
    assert.deepEqual(bed.take(1000, waits), upTo(500).reverse());
  });

  it('lets so many frames overtake one', () => {
    const bed = new Bed();
    const waits = waitsOf({ gaps: [0, 3, 0, 1] });
    for (const number of upTo(7)) bed.push(number, 0, waits);
    // 1 is behind 2, 4 and 5; 3, kept back as well, is not counted.
    assert.deepEqual(bed.take(0, waits), [0, 2, 4, 3, 5, 1, 6]);
    assert.deepEqual([bed.queue.frames, bed.queue.bytes], [0, 0]);
  });

  it('waits no longer than 100 ms for frames to overtake', () => {
    const bed = new Bed();
    const waits = waitsOf({ gaps: [5], hold: (atMs) => atMs + 10 });
    bed.push(0, 1000, waits);
    assert.deepEqual([bed.queue.frames, bed.queue.nextDueMs], [1, 1100]);
    assert.deepEqual(bed.take(1099, waits), []);
    assert.deepEqual(bed.take(1100, waits), []);
    assert.equal(bed.queue.nextDueMs, 1110, 'then it is held as every frame');
    assert.deepEqual(bed.take(1110, waits), [0]);
    assert.ok((bed.queue.waited.figures(1110)?.median_ms ?? 0) > 105);
  });

  it('keeps back no more than it can count down in time', () => {
    const bed = new Bed();
    const waits: Waits = { ...waitsOf({}), displacing: { displace: () => 1000 } };
    for (const number of upTo(1030)) bed.push(number, 0, waits);
    assert.deepEqual(bed.take(0, waits), upTo(6, 1024));
    assert.deepEqual(bed.take(100, waits), upTo(1024));
  });

  it('says what was lost', () => {
    const bed = new Bed();
    bed.push(0, 0, waitsOf({ hold: () => lost }));
    assert.deepEqual([bed.losses, bed.queue.frames], [['delay'], 0]);
  });

  it('is bounded, in order or not', () => {
    for (const overtakes of [false, true]) {
      const bed = new Bed();
      const waits = waitsOf({ overtakes, hold: (atMs) => atMs + 10 });
      const length = 60_000;
      let count = 0;
      for (; bed.losses.length === 0; count += 1) bed.push(count, 0, waits, length);
      assert.equal(count, Math.floor(maxQueuedBytes / (headerBytes + length)) + 1);
      assert.deepEqual(bed.losses, ['queue_full']);
      assert.equal(bed.take(10, waits).length, count - 1);
    }
  });
});
