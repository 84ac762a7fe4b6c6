import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FrameAt, frameLength, headerBytes, maxFrameBytes, putFrameLength } from '../frames.ts';
import { DelayHistogram } from './delay-histogram.ts';
import { BlockPool, DelayLine, maxQueuedBytes } from './delay-line.ts';

function numbered(number: number, length = 60): Buffer {
  const buffer = Buffer.alloc(headerBytes + length);
  putFrameLength(buffer, 0, length);
  buffer.writeUInt32BE(number, headerBytes);
  return buffer;
}

function inMemory(buffer: Buffer, arrivedMs = 0): FrameAt {
  return { buffer, start: 0, end: buffer.length, arrivedMs };
}

/** Takes all that is due; the numbers in order. */
function drain(line: DelayLine, nowMs: number): number[] {
  const numbers: number[] = [];
  while (line.take(nowMs)) {
    for (let at = line.start; at < line.end; at += headerBytes + frameLength(line.block, at)) {
      numbers.push(line.block.readUInt32BE(at + headerBytes));
    }
    line.settle();
  }
  return numbers;
}

describe('delay line', () => {
  it('gives back what is due, in order', () => {
    const line = new DelayLine(new BlockPool(), new DelayHistogram());
    assert.equal(line.nextDueMs, Number.POSITIVE_INFINITY);
    for (let number = 0; number < 5; number += 1) line.push(inMemory(numbered(number)), 10 + (number >> 1));
    assert.equal(line.nextDueMs, 10);
    assert.deepEqual(drain(line, 9.9), []);
    assert.deepEqual(drain(line, 10), [0, 1]);
    assert.equal(line.frames, 3);
    assert.deepEqual(drain(line, 20), [2, 3, 4]);
    assert.equal(line.frames + line.bytes, 0);
  });

  it('works over many blocks and a long time', () => {
    const line = new DelayLine(new BlockPool(), new DelayHistogram());
    const got: number[] = [];
    let next = 0;
    for (let nowMs = 0; nowMs < 3000; nowMs += 1) {
      for (let count = 0; count < nowMs % 40; count += 1, next += 1) {
        const frame = numbered(next, 4 + ((next * 977) % 1500));
        assert.ok(line.push(inMemory(frame), nowMs + 50));
      }
      got.push(...drain(line, nowMs));
    }
    got.push(...drain(line, 4000));
    assert.equal(next, got.length);
    assert.ok(got.every((number, index) => number === index));
  });

  it('shows what waits while more comes, also to the last run', () => {
    const line = new DelayLine(new BlockPool(), new DelayHistogram());
    for (let number = 0; number < 3; number += 1) line.push(inMemory(numbered(number)), 10);
    const shown: number[] = [];
    let next = 3;
    for (const { frame } of line.waiting()) {
      shown.push(frame.readUInt32BE(headerBytes));
      // Seven of eight join the run before them, also the one that is being shown.
      for (let more = 0; more < 2 && next < 5000; more += 1, next += 1)
        line.push(inMemory(numbered(next)), 10 + Math.floor(next / 8));
    }
    assert.deepEqual(
      shown,
      Array.from({ length: 5000 }, (_, number) => number),
    );
  });

  it('leaves alone the memory of a run until it is settled', () => {
    const line = new DelayLine(new BlockPool(), new DelayHistogram());
    line.push(inMemory(numbered(1)), 1);
    assert.ok(line.take(1));
    const { block, start, end } = line;
    const before = Buffer.from(block.subarray(start, end));
    for (let number = 2; number < 5000; number += 1) line.push(inMemory(numbered(number)), 2);
    assert.deepEqual(block.subarray(start, end), before);
  });

  it('is bounded', () => {
    const line = new DelayLine(new BlockPool(), new DelayHistogram());
    const frame = numbered(0, maxFrameBytes);
    let taken = 0;
    while (line.push(inMemory(frame), 1)) taken += 1;
    assert.equal(taken, Math.floor(maxQueuedBytes / frame.length));
    assert.equal(drain(line, 1).length, taken);
    assert.ok(line.push(inMemory(frame), 2));
  });
});
