/**
 * A port on a Unix stream socket on which somebody else listens.
 *
 * Theory of operation: one static buffer receives everything. Frames are found in place and handed on as one run, so what was read
 * together is written together. The beginning of a frame whose rest has not arrived is moved to just before the place into which the
 * next read goes. When the run cannot be written at once the other port keeps writing from this very buffer, and this port does not
 * read meanwhile: that is the back-pressure of a link.
 *
 * A length that cannot be one means that the two sides no longer agree where frames begin: only a new connection helps.
 */
import { connect, type Socket } from 'node:net';
import { frameLength, headerBytes, maxFrameBytes } from './frames.ts';
import type { Port, PortOwner } from './port.ts';
import { Retry } from './retry.ts';

/** Room for the torn beginning of a frame, in front of the place that is read into. */
const headroom = headerBytes + maxFrameBytes;
/** Most that one read takes. */
const readBytes = 128 * 1024;

const nothing = Buffer.alloc(0);

export function openStream(spec: { path: string }, owner: PortOwner): Port {
  return new StreamPort(spec.path, owner);
}

class StreamPort implements Port {
  readonly problem = undefined;
  readonly opened = Promise.resolve();
  connected = false;
  oversized = 0;
  readonly #path: string;
  readonly #owner: PortOwner;
  readonly #buffer = Buffer.allocUnsafeSlow(headroom + readBytes);
  readonly #readArea = this.#buffer.subarray(headroom);
  readonly #retry = new Retry(() => this.#connect());
  readonly #onWritten = () => this.#written();
  #socket: Socket | undefined;
  /** What was read and not yet handed on, `#buffer[#tornStart, #tornEnd)`: the beginning of a frame, or more while held. */
  #tornStart = headroom;
  #tornEnd = headroom;
  /** The peer of the link still writes from our buffer. */
  #held = false;
  /** Our socket still writes from the memory that was last sent. */
  #writing = false;
  #closed = false;

  constructor(path: string, owner: PortOwner) {
    this.#path = path;
    this.#owner = owner;
    this.#connect();
  }

  nudge(): void {
    if (!this.connected) this.#retry.nudge();
  }

  send(buffer: Buffer, start: number, end: number): boolean {
    const socket = this.#socket as Socket;
    socket.write(buffer.subarray(start, end));
    // Node writes at once as much as the kernel takes; only what is left over counts here.
    if (socket.writableLength === 0 || socket.destroyed) return true;
    this.#writing = true;
    // Called when all before it was written. A callback with every write would cost each a turn of its own.
    socket.write(nothing, this.#onWritten);
    return false;
  }

  resume(): void {
    if (!this.#held) return;
    this.#held = false;
    const socket = this.#socket;
    if (!socket) return;
    this.#walk(socket);
    if (!this.#held) socket.resume();
  }

  close(): void {
    this.#closed = true;
    this.#retry.stop();
    this.#socket?.destroy();
    this.#lost(this.#socket);
  }

  #connect(): void {
    if (this.#closed) return;
    this.#forgetTorn();
    const socket: Socket = connect({
      path: this.#path,
      onread: { buffer: this.#readArea, callback: (length) => this.#read(socket, length) },
    });
    this.#socket = socket;
    // The first cause is of no use here: whatever it was, the remedy is to connect again, which 'close' does.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#lost(socket));
    socket.once('connect', () => {
      this.connected = true;
      this.#retry.succeeded();
      if (this.#held) socket.pause();
    });
  }

  #lost(socket: Socket | undefined): void {
    if (!socket || this.#socket !== socket) return;
    this.#socket = undefined;
    this.connected = false;
    if (!this.#closed) this.#retry.failed();
    if (!this.#writing) return;
    this.#writing = false;
    this.#owner.drained();
  }

  #written(): void {
    if (!this.#writing || this.#socket?.writableLength !== 0) return;
    this.#writing = false;
    this.#owner.drained();
  }

  /** Always asks for more: whether to go on is decided with pause and resume. */
  #read(socket: Socket, length: number): boolean {
    if (socket !== this.#socket || this.#held) return true;
    this.#tornEnd = headroom + length;
    this.#walk(socket);
    return true;
  }

  /** Hands on what is whole, up to the first run that is held. */
  #walk(socket: Socket): void {
    const buffer = this.#buffer;
    const limit = this.#tornEnd;
    let start = this.#tornStart;
    let at = start;
    let frames = 0;
    let length = -1;
    while (limit - at >= headerBytes) {
      length = frameLength(buffer, at);
      if (length === 0 && frames === 0) {
        at += headerBytes;
        start = at;
        continue;
      }
      if (length === 0 || length > maxFrameBytes || length > limit - at - headerBytes) break;
      at += headerBytes + length;
      frames += 1;
    }
    this.#tornStart = at;
    if (frames > 0 && !this.#owner.received(buffer, start, at, frames)) {
      this.#held = true;
      socket.pause();
      return;
    }
    if (frames > 0 && length === 0) this.#walk(socket);
    else if (length > maxFrameBytes) this.#resynchronise(socket);
    else this.#keepTorn();
  }

  #keepTorn(): void {
    const torn = this.#tornEnd - this.#tornStart;
    if (torn > 0) this.#buffer.copy(this.#buffer, headroom - torn, this.#tornStart, this.#tornEnd);
    this.#tornStart = headroom - torn;
    this.#tornEnd = headroom;
  }

  #resynchronise(socket: Socket): void {
    this.#forgetTorn();
    socket.destroy();
  }

  #forgetTorn(): void {
    this.#tornStart = headroom;
    this.#tornEnd = headroom;
  }
}
