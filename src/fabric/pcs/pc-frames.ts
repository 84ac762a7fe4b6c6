/** The frames of a PC that wait: those of its link until it has its turn, and its own until the link takes them. */
import { frameLength, headerBytes, maxFrameBytes, putFrameLength } from '../frames.ts';
import type { PortOwner } from '../ports/port.ts';

/** Of either direction; what does not fit is lost. */
const queueBytes = 128 * 1024;
/** A link that comes so much later than a frame was sent still gets it: a PC sends from its start, and its link comes a moment later. */
const beforeLinkMs = 1000;

export class PcFrames {
  /** Batches of frames with their lengths, and the place in the first one. */
  #arrived: Buffer[] = [];
  #at = 0;
  #arrivedBytes = 0;
  /** Without lengths. */
  #leaving: Uint8Array[] = [];
  #leavingBytes = 0;
  #leavingSinceMs = 0;
  #link: PortOwner | undefined;
  /** The link still reads the memory of the last frames it was given. */
  #isHeld = false;

  get hasArrived(): boolean {
    return this.#arrived.length > 0;
  }

  /** Adds what the link delivers; false: it does not fit. */
  arrive(buffer: Uint8Array, start: number, end: number): boolean {
    if (this.#arrivedBytes + end - start > queueBytes) return false;
    this.#arrived.push(Buffer.from(buffer.subarray(start, end)));
    this.#arrivedBytes += end - start;
    return true;
  }

  /** The next frame for the PC. */
  take(): Uint8Array | undefined {
    const [batch] = this.#arrived;
    if (!batch) return undefined;
    const from = this.#at + headerBytes;
    this.#at = from + frameLength(batch, this.#at);
    const frame = batch.subarray(from, this.#at);
    if (this.#at >= batch.length) {
      this.#arrived.shift();
      this.#arrivedBytes -= batch.length;
      this.#at = 0;
    }
    return frame;
  }

  /** Takes a frame of the PC, which leaves by `flush`. */
  put(frame: Uint8Array): void {
    if (frame.length > maxFrameBytes || this.#leavingBytes + headerBytes + frame.length > queueBytes) return;
    if (this.#leaving.length === 0) this.#leavingSinceMs = performance.now();
    this.#leaving.push(frame);
    this.#leavingBytes += headerBytes + frame.length;
  }

  /** Gives the link what waits for it. */
  flush(): void {
    const link = this.#link;
    const frames = this.#leaving;
    if (frames.length === 0 || this.#isHeld) return;
    if (!link) {
      if (performance.now() - this.#leavingSinceMs > beforeLinkMs) this.#forget();
      return;
    }
    const buffer = joined(frames);
    this.#forget();
    this.#isHeld = !link.received(buffer, 0, buffer.length, frames.length);
  }

  /** Frames leave for this link from now on; undefined: for none. */
  setLink(link: PortOwner | undefined): void {
    this.#link = link;
    this.#isHeld = false;
    if (performance.now() - this.#leavingSinceMs > beforeLinkMs) this.#forget();
  }

  resume(): void {
    this.#isHeld = false;
    this.flush();
  }

  /** All of them, which stay. */
  waiting(): { readonly arrived: readonly Uint8Array[]; readonly leaving: readonly Uint8Array[] } {
    const arrived: Uint8Array[] = [];
    for (const [index, batch] of this.#arrived.entries())
      for (let at = index === 0 ? this.#at : 0; at < batch.length; ) {
        const from = at + headerBytes;
        at = from + frameLength(batch, at);
        arrived.push(batch.subarray(from, at));
      }
    return { arrived, leaving: this.#leaving };
  }

  restore({ arrived, leaving }: { readonly arrived: readonly Uint8Array[]; readonly leaving: readonly Uint8Array[] }): void {
    for (const frame of arrived) {
      const buffer = joined([frame]);
      this.arrive(buffer, 0, buffer.length);
    }
    for (const frame of leaving) this.put(frame);
  }

  #forget(): void {
    this.#leaving = [];
    this.#leavingBytes = 0;
  }
}

function joined(frames: readonly Uint8Array[]): Buffer {
  const buffer = Buffer.allocUnsafe(frames.reduce((sum, { length }) => sum + headerBytes + length, 0));
  let at = 0;
  for (const frame of frames) {
    putFrameLength(buffer, at, frame.length);
    buffer.set(frame, at + headerBytes);
    at += headerBytes + frame.length;
  }
  return buffer;
}
