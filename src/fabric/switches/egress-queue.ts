/**
 * The frames that a port of a switch has yet to send. Frames are copied in and leave together at the end of the event loop's turn. They
 * wait while earlier ones are still being written; frames that no longer fit are lost at the tail and counted: a slow port delays no other.
 */
import { frameLength, headerBytes, maxFrameBytes, putFrameLength } from '../frames.ts';
import type { FlushTurns } from './flush-turns.ts';

/** A queue begins with the smallest and exchanges it when it needs more. Bytes. */
const sizes = [4 * 1024, 64 * 1024, 512 * 1024] as const;
/** Largest buffer. */
const largestBytes = sizes[2];
/** Most free bytes that are kept for the next queue; the rest is freed. */
const keptBytes = 16 * 1024 * 1024;

/** Memory of queues, which share it: a queue has some only while frames are in it, so that ten thousand idle ports take none. */
class FrameBuffers {
  readonly #free = new Map<number, Buffer[]>(sizes.map((size) => [size, []]));
  #freeBytes = 0;

  /** A buffer of at least so many bytes, at most `largestBytes`; its content is arbitrary. */
  take(bytes: number): Buffer {
    const size = sizes.find((each) => each >= bytes) ?? largestBytes;
    const kept = this.#free.get(size)?.pop();
    if (!kept) return Buffer.allocUnsafeSlow(size);
    this.#freeBytes -= size;
    return kept;
  }

  /** The caller does not use it any more. */
  give(buffer: Buffer): void {
    if (this.#freeBytes + buffer.length > keptBytes) return;
    this.#freeBytes += buffer.length;
    this.#free.get(buffer.length)?.push(buffer);
  }
}

/** Some reads' worth (`port-stream.ts`), for ports to which several others send at once. */
export const queueBytes = largestBytes;
/** Length of the two MAC addresses, which stand before a tag. */
const addressBytes = 12;
export const tagBytes = 4;
const buffers = new FrameBuffers();

/** Takes the frames of a queue, as `PortOwner.received`. */
type Deliver = (buffer: Buffer, start: number, end: number, frames: number) => boolean;

export class EgressQueue {
  sent = 0;
  sentBytes = 0;
  droppedFull = 0;
  droppedOversized = 0;
  /** The queue has its place in the next turn. */
  isWaiting = false;
  readonly #deliver: Deliver;
  readonly #turns: FlushTurns;
  /** Undefined while it is empty. */
  #filling: Buffer | undefined;
  #filled = 0;
  #frames = 0;
  /** Still written from by the receiver. */
  #held: Buffer | undefined;
  #closed = false;

  constructor(deliver: Deliver, turns: FlushTurns) {
    this.#deliver = deliver;
    this.#turns = turns;
  }

  get queued(): number {
    return this.#frames;
  }

  /** Frames as they are. */
  append(buffer: Buffer, start: number, end: number, frames: number): void {
    this.#open();
    if (this.#filled + end - start > queueBytes) {
      this.#appendWhatFits(buffer, start, end);
      return;
    }
    buffer.copy(this.#room(end - start), this.#filled, start, end);
    this.#filled += end - start;
    this.#frames += frames;
  }

  /** Frames with a tag put in behind their addresses. */
  appendTagged(buffer: Buffer, start: number, end: number, tag: number): void {
    this.#open();
    let next = start;
    for (let at = start; at < end; at = next) {
      const length = frameLength(buffer, at);
      next = at + headerBytes + length;
      if (length + tagBytes > maxFrameBytes) this.droppedOversized += 1;
      else if (this.#takes(length + tagBytes)) {
        const queue = this.#room(headerBytes + length + tagBytes);
        const to = this.#begin(queue, length + tagBytes);
        const rest = at + headerBytes + addressBytes;
        buffer.copy(queue, to, at + headerBytes, rest);
        queue.writeUInt32BE(tag, to + addressBytes);
        buffer.copy(queue, to + addressBytes + tagBytes, rest, next);
      }
    }
  }

  /** Frames whose tag gets another VLAN and keeps its type and priority. */
  appendRetagged(buffer: Buffer, start: number, end: number, vlan: number): void {
    this.#open();
    let next = start;
    for (let at = start; at < end; at = next) {
      const length = frameLength(buffer, at);
      next = at + headerBytes + length;
      if (!this.#takes(length)) continue;
      const queue = this.#room(headerBytes + length);
      const to = this.#begin(queue, length);
      buffer.copy(queue, to, at + headerBytes, next);
      const control = to + addressBytes + tagBytes / 2;
      queue.writeUInt16BE((queue.readUInt16BE(control) & 0xf000) | vlan, control);
    }
  }

  /** Frames without the tag behind their addresses. */
  appendUntagged(buffer: Buffer, start: number, end: number): void {
    this.#open();
    let next = start;
    for (let at = start; at < end; at = next) {
      const length = frameLength(buffer, at);
      next = at + headerBytes + length;
      if (!this.#takes(length - tagBytes)) continue;
      const queue = this.#room(headerBytes + length - tagBytes);
      const to = this.#begin(queue, length - tagBytes);
      const tag = at + headerBytes + addressBytes;
      buffer.copy(queue, to, at + headerBytes, tag);
      buffer.copy(queue, to + addressBytes, tag + tagBytes, next);
    }
  }

  /** Sends what has come together. */
  flush(): void {
    const buffer = this.#filling;
    const [end, frames] = [this.#filled, this.#frames];
    if (!buffer || frames === 0 || this.#held || this.#closed) return;
    // Delivered frames may come back to this queue meanwhile, by a loop.
    this.#filling = undefined;
    this.#filled = 0;
    this.#frames = 0;
    this.sent += frames;
    this.sentBytes += end - frames * headerBytes;
    if (this.#deliver(buffer, 0, end, frames)) buffers.give(buffer);
    else this.#held = buffer;
  }

  /** Continues after the delivered frames have been written. */
  resume(): void {
    const buffer = this.#held;
    if (!buffer) return;
    this.#held = undefined;
    buffers.give(buffer);
    if (this.#frames > 0) this.#turns.add(this);
  }

  close(): void {
    this.#closed = true;
  }

  #open(): void {
    if (!this.#held) this.#turns.add(this);
  }

  /** The buffer, with room for so many more bytes, which fit. */
  #room(bytes: number): Buffer {
    const filling = this.#filling;
    if (filling && this.#filled + bytes <= filling.length) return filling;
    const larger = buffers.take(this.#filled + bytes);
    filling?.copy(larger, 0, 0, this.#filled);
    if (filling) buffers.give(filling);
    this.#filling = larger;
    return larger;
  }

  #appendWhatFits(buffer: Buffer, start: number, end: number): void {
    let next = start;
    for (let at = start; at < end; at = next) {
      const length = frameLength(buffer, at);
      next = at + headerBytes + length;
      if (!this.#takes(length)) continue;
      const queue = this.#room(headerBytes + length);
      buffer.copy(queue, this.#begin(queue, length), at + headerBytes, next);
    }
  }

  #takes(length: number): boolean {
    const fits = this.#filled + headerBytes + length <= queueBytes;
    if (!fits) this.droppedFull += 1;
    return fits;
  }

  /** Makes room for a frame; returns where it goes. */
  #begin(queue: Buffer, length: number): number {
    putFrameLength(queue, this.#filled, length);
    const to = this.#filled + headerBytes;
    this.#filled = to + length;
    this.#frames += 1;
    return to;
  }
}
