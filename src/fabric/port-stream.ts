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

export function openStream(spec: { path: string }, owner: PortOwner): Port {
  return new StreamPort(spec.path, owner);
}

class StreamPort implements Port {
  readonly problem = undefined;
  readonly opened = Promise.resolve();
  connected = false;
  readonly #path: string;
  readonly #owner: PortOwner;
  readonly #buffer = Buffer.allocUnsafeSlow(headroom + readBytes);
  readonly #readArea = this.#buffer.subarray(headroom);
  readonly #retry = new Retry(() => this.#connect());
  readonly #onWritten = () => this.#written();
  #socket: Socket | undefined;
  /** The torn frame, `#buffer[#tornStart, #tornEnd)`. */
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

  send(buffer: Buffer, start: number, end: number): number {
    const socket = this.#socket as Socket;
    socket.write(buffer.subarray(start, end), this.#onWritten);
    // Node writes at once as much as the kernel takes; only what is left over counts here.
    if (socket.writableLength === 0 || socket.destroyed) return 0;
    this.#writing = true;
    return -1;
  }

  resume(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#keepTorn();
    this.#socket?.resume();
  }

  close(): void {
    this.#closed = true;
    this.#retry.stop();
    this.#socket?.destroy();
    this.#lost(this.#socket);
  }

  #connect(): void {
    if (this.#closed) return;
    this.#tornStart = headroom;
    this.#tornEnd = headroom;
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
    const buffer = this.#buffer;
    const start = this.#tornStart;
    const limit = headroom + length;
    let at = start;
    let frames = 0;
    while (limit - at >= headerBytes) {
      const frameBytes = frameLength(buffer, at);
      if (frameBytes === 0 || frameBytes > maxFrameBytes) break;
      const next = at + headerBytes + frameBytes;
      if (next > limit) break;
      at = next;
      frames += 1;
    }
    this.#tornStart = at;
    this.#tornEnd = limit;
    if (frames > 0 && !this.#owner.received(buffer, start, at, frames)) {
      this.#held = true;
      socket.pause();
      return true;
    }
    this.#keepTorn();
    return true;
  }
}
