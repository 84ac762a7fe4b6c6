/** The Ethernet port of a PC: a link's end, and the frames that wait for the PC's turn or for the link. */
import { frameLength, headerBytes, maxFrameBytes, putFrameLength } from '../frames.ts';
import type { FabricPort, PortOwner } from '../ports/port.ts';

/** Limit of frames that wait in either direction; further frames are lost. */
const queueBytes = 128 * 1024;
/** A link that comes so much later than a frame was sent still gets it: a PC sends from its start, and its link comes a moment later. */
const beforeLinkMs = 1000;
const opened = Promise.resolve();

class FrameQueue {
  #frames: Uint8Array[] | undefined;
  #bytes = 0;

  get all(): readonly Uint8Array[] {
    return this.#frames ?? [];
  }

  /** False: there is no room. */
  push(frame: Uint8Array): boolean {
    const bytes = headerBytes + frame.length;
    if (frame.length > maxFrameBytes || this.#bytes + bytes > queueBytes) return false;
    this.#frames ??= [];
    this.#frames.push(frame);
    this.#bytes += bytes;
    return true;
  }

  shift(): Uint8Array | undefined {
    const frame = this.#frames?.shift();
    if (this.#frames?.length === 0) this.clear();
    else if (frame) this.#bytes -= headerBytes + frame.length;
    return frame;
  }

  /** Takes all frames, each with its length before it. */
  takeAll(): Buffer {
    const buffer = Buffer.allocUnsafe(this.#bytes);
    let at = 0;
    for (const frame of this.all) {
      putFrameLength(buffer, at, frame.length);
      buffer.set(frame, at + headerBytes);
      at += headerBytes + frame.length;
    }
    this.clear();
    return buffer;
  }

  clear(): void {
    this.#frames = undefined;
    this.#bytes = 0;
  }
}

/** The frames of a PC that wait. */
export class PcFrames {
  /** Frames of the link, until the PC has its turn. */
  readonly arrived = new FrameQueue();
  /** Frames of the PC, until the link takes them. */
  readonly leaving = new FrameQueue();
  #leavingSinceMs = 0;
  #link: PortOwner | undefined;
  /** The link still reads the memory of the last frames it was given. */
  #isHeld = false;

  /** Copies frames that the link delivers, and returns how many do not fit. */
  arrive(buffer: Buffer, start: number, end: number): number {
    let lost = 0;
    for (let at = start; at < end; ) {
      const from = at + headerBytes;
      at = from + frameLength(buffer, at);
      if (!this.arrived.push(new Uint8Array(buffer.subarray(from, at)))) lost += 1;
    }
    return lost;
  }

  /** Takes a frame of the PC, which leaves by `flush`. */
  put(frame: Uint8Array): void {
    if (this.leaving.all.length === 0) this.#leavingSinceMs = performance.now();
    this.leaving.push(frame);
  }

  /** Gives the link the frames that wait for it. */
  flush(): void {
    const frames = this.leaving.all.length;
    if (frames === 0 || this.#isHeld) return;
    if (!this.#link) {
      this.#forgetOld();
      return;
    }
    const buffer = this.leaving.takeAll();
    this.#isHeld = !this.#link.received(buffer, 0, buffer.length, frames);
  }

  /** Frames leave for this link from now on; undefined: for none. */
  setLink(link: PortOwner | undefined): void {
    this.#link = link;
    this.#isHeld = false;
    this.#forgetOld();
  }

  resume(): void {
    this.#isHeld = false;
    this.flush();
  }

  #forgetOld(): void {
    if (performance.now() - this.#leavingSinceMs > beforeLinkMs) this.leaving.clear();
  }
}

/** The PC, as far as its port knows it. */
export interface PortHolder {
  readonly frames: PcFrames;
  /** Frames have arrived, or the port has another state. */
  wake(): void;
  unplug(port: PcPort): void;
}

export class PcPort implements FabricPort {
  readonly problem = undefined;
  readonly opened = opened;
  refused: Readonly<Record<string, number>> | undefined;
  oversized = 0;
  /** Undefined while the PC does not exist. */
  #holder: PortHolder | undefined;
  readonly #owner: PortOwner;
  readonly #onClose: (port: PcPort) => void;

  constructor(owner: PortOwner, onClose: (port: PcPort) => void) {
    this.#owner = owner;
    this.#onClose = onClose;
  }

  get connected(): boolean {
    return this.#holder !== undefined;
  }

  /** The port is that of this PC from now on. */
  join(holder: PortHolder | undefined): void {
    this.#holder?.frames.setLink(undefined);
    this.#holder = holder;
    holder?.frames.setLink(this.#owner);
    holder?.wake();
  }

  nudge(): void {}

  send(buffer: Buffer, start: number, end: number): boolean {
    const lost = this.#holder?.frames.arrive(buffer, start, end) ?? 0;
    if (lost > 0) this.refused = { queue_full: (this.refused?.queue_full ?? 0) + lost };
    this.#holder?.wake();
    return true;
  }

  resume(): void {
    this.#holder?.frames.resume();
  }

  close(): void {
    this.#holder?.unplug(this);
    this.join(undefined);
    this.#onClose(this);
  }
}
