/**
 * Writes the frames of a link to a pcap file.
 *
 * Theory of operation. Frames are copied into blocks as they pass; a block is written when it is full or 50 ms after its first frame,
 * one write at a time, so what is written waits at most that long and a write ends with a complete record. The link never waits: when the
 * disk is slower than the frames and all blocks are full, frames are missed and counted. An existing file (after a
 * restart) is appended to after its last complete record. Whatever ends the capture before its link does stands in `ended`.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { fileHeaderBytes, recordHeaderBytes, snapLength } from '../../schema/pcap.ts';
import { fileHeader, findEnd } from '../../schema/pcap-file.ts';
import { frameLength, headerBytes } from '../frames.ts';
import type { CaptureSpec, CaptureStats } from '../protocol.ts';

const flushMs = 50;
const blockBytes = 512 * 1024;
/** 32 MiB: a quarter of a second at 1 Gbit/s in which the disk may do something else. */
const maxBlocks = 64;
/** Timers take no more, in milliseconds. */
const longestTimerMs = 2 ** 31 - 1;

interface CaptureBlock {
  readonly bytes: Buffer;
  used: number;
}

export class Capture {
  readonly spec: CaptureSpec;
  readonly #clock = new WallClock();
  #filling: CaptureBlock | undefined;
  /** Full, in order; the first is being written while `#writing`. */
  #full: CaptureBlock[] = [];
  #spare: Buffer | undefined;
  #flushTimer: NodeJS.Timeout | undefined;
  #limitTimer: NodeJS.Timeout | undefined;
  #handle: FileHandle | undefined;
  /** Settles when what was there to write is written, or could not be. */
  #writing: Promise<void> | undefined;
  #frames = 0;
  #missed = 0;
  /** Length of the file once all pending records are written. */
  #bytes = fileHeaderBytes;
  /** Bytes in the file now, complete records only. */
  #written = 0;
  #ended: string | undefined;
  #closing: Promise<void> | undefined;

  /** `ready`: no other capture writes the file any more. */
  constructor(spec: CaptureSpec, ready: Promise<void>) {
    this.spec = spec;
    this.#startWriting(this.#open(ready));
    this.#watchTime();
  }

  /** Takes note of the frames in `buffer[start, end)`, length-prefixed (`frames.ts`). */
  take(buffer: Buffer, start: number, end: number): void {
    if (this.#ended !== undefined) return;
    const { seconds, nanoseconds } = this.#clock.read();
    const fraction = this.spec.nanoseconds ? nanoseconds : Math.floor(nanoseconds / 1000);
    for (let at = start; at < end; ) {
      const length = frameLength(buffer, at);
      const kept = Math.min(length, snapLength);
      const size = recordHeaderBytes + kept;
      if (this.spec.maxBytes !== undefined && this.#bytes + size > this.spec.maxBytes) {
        this.#end(`it has reached its limit of ${this.spec.maxBytes} bytes`);
        return;
      }
      const block = this.#roomFor(size);
      if (block) {
        const { bytes, used } = block;
        bytes.writeUInt32LE(seconds, used);
        bytes.writeUInt32LE(fraction, used + 4);
        bytes.writeUInt32LE(kept, used + 8);
        bytes.writeUInt32LE(length, used + 12);
        buffer.copy(bytes, used + recordHeaderBytes, at + headerBytes, at + headerBytes + kept);
        block.used = used + size;
        this.#bytes += size;
        this.#frames += 1;
      } else {
        this.#missed += 1;
      }
      at += headerBytes + length;
    }
  }

  stats(): CaptureStats {
    const { path } = this.spec;
    const ended = this.#ended;
    return { path, frames: this.#frames, bytes: this.#bytes, missed: this.#missed, ...(ended !== undefined && { ended }) };
  }

  /** Writes what is left; settles when the file is complete. May be called again. */
  close(): Promise<void> {
    this.#ended ??= 'it was stopped';
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #open(ready: Promise<void>): Promise<void> {
    await ready;
    const handle = await open(this.spec.path, 'a+', 0o600);
    this.#handle = handle;
    const kind = { linkType: this.spec.linkType, nanoseconds: this.spec.nanoseconds ?? false };
    const { size } = await handle.stat();
    if (size === 0) {
      await handle.appendFile(fileHeader(kind));
      this.#written = fileHeaderBytes;
      return;
    }
    const read = async (buffer: Buffer, length: number, position: number) =>
      (await handle.read(buffer, 0, length, position)).bytesRead;
    const end = await findEnd(read, size, kind);
    if (end === undefined) throw new Error('the file that is there is not one of this capture');
    if (end < size) await handle.truncate(end);
    this.#written = end;
    this.#bytes += end - fileHeaderBytes;
  }

  #roomFor(size: number): CaptureBlock | undefined {
    const present = this.#filling;
    if (present && present.used + size <= blockBytes) return present;
    if (present) this.#flush();
    if (this.#full.length >= maxBlocks) return undefined;
    this.#filling = { bytes: this.#spare ?? Buffer.allocUnsafeSlow(blockBytes), used: 0 };
    this.#spare = undefined;
    this.#flushTimer ??= setTimeout(() => this.#flush(), flushMs);
    return this.#filling;
  }

  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    if (this.#filling) this.#full.push(this.#filling);
    this.#filling = undefined;
    if (!this.#writing) this.#startWriting(Promise.resolve());
  }

  #startWriting(first: Promise<void>): void {
    this.#writing = this.#write(first).finally(() => {
      this.#writing = undefined;
    });
  }

  async #write(first: Promise<void>): Promise<void> {
    try {
      await first;
      for (let block = this.#full[0]; block && this.#handle; block = this.#full[0]) {
        await this.#handle.appendFile(block.bytes.subarray(0, block.used));
        this.#written += block.used;
        this.#full.shift();
        // The memory is used again while frames keep coming; an idle capture holds none.
        this.#spare = this.#filling || this.#full.length > 0 ? block.bytes : undefined;
      }
    } catch (error) {
      await this.#fail(error);
    }
  }

  /** The disk refuses: the file stays, up to its last complete record. */
  async #fail(error: unknown): Promise<void> {
    this.#ended = error instanceof Error ? error.message : String(error);
    this.#full = [];
    this.#filling = undefined;
    if (this.#written > 0) await this.#handle?.truncate(this.#written).catch(() => undefined);
    await this.#handle?.close().catch(() => undefined);
    this.#handle = undefined;
  }

  #end(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    void this.close();
  }

  async #finish(): Promise<void> {
    clearTimeout(this.#limitTimer);
    await this.#writing;
    this.#flush();
    await this.#writing;
    await this.#handle?.close().catch(() => undefined);
    this.#handle = undefined;
    this.#spare = undefined;
  }

  #watchTime(): void {
    const { until } = this.spec;
    if (until === undefined || this.#ended !== undefined) return;
    const leftMs = until - Date.now();
    if (leftMs <= 0) this.#end('its time is over');
    else this.#limitTimer = setTimeout(() => this.#watchTime(), Math.min(leftMs, longestTimerMs));
  }
}

/** A difference between the clocks that only setting the time makes. */
const stepMs = 5;

/**
 * Reads the time of day with the resolution of the monotonic clock. `Date.now()` has whole milliseconds only; the two clocks are disciplined
 * alike, so they drift apart only when the time is set.
 */
export class WallClock {
  #offsetMs = performance.timeOrigin;

  /** Reads the time since 1970, UTC. */
  read(): { seconds: number; nanoseconds: number } {
    const elapsedMs = performance.now();
    const dayMs = Date.now();
    if (Math.abs(this.#offsetMs + elapsedMs - dayMs) > stepMs) this.#offsetMs = dayMs - elapsedMs;
    const wholeMs = Math.floor(this.#offsetMs) + Math.floor(elapsedMs);
    const restMs = this.#offsetMs - Math.floor(this.#offsetMs) + (elapsedMs - Math.floor(elapsedMs));
    const nanos = (wholeMs % 1000) * 1e6 + Math.floor(restMs * 1e6);
    const seconds = Math.floor(wholeMs / 1000);
    return nanos < 1e9 ? { seconds, nanoseconds: nanos } : { seconds: seconds + 1, nanoseconds: nanos - 1e9 };
  }
}
