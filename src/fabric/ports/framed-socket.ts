/**
 * Frames over a stream socket, or over one after the other as connections come and go.
 *
 * Theory of operation: one static buffer receives everything. Frames are found in place and handed on as one run, so what was read
 * together is written together. The beginning of a frame whose rest has not arrived is moved to just before the place into which the
 * next read goes. When the run cannot be written at once the other port keeps writing from this very buffer, and this socket is not
 * read meanwhile: that is the back-pressure of a link.
 *
 * A length that cannot be one means that the two sides no longer agree where frames begin: only a new connection helps.
 */
import type { Socket } from 'node:net';
import { frameLength, headerBytes, maxFrameBytes } from '../frames.ts';
import type { Native } from './native.ts';
import type { PortOwner } from './port.ts';

/** Room for the torn beginning of a frame, in front of the place that is read into. */
const headroom = headerBytes + maxFrameBytes;
/** Most that one read takes. */
const readBytes = 128 * 1024;

/** Lengths from here on are marks between two fabrics, where they have agreed on them. */
export const firstMark = 0xffff_fff0;

const nothing = Buffer.alloc(0);

/** Writes to a socket past Node's streams, each of whose writes leaves garbage. The descriptor is the socket's. */
interface DirectWrites {
  readonly native: Native;
  readonly descriptor: number;
}

export class FramedSocket {
  readonly #owner: PortOwner;
  readonly #buffer = Buffer.allocUnsafeSlow(headroom + readBytes);
  /** Memory into which a socket reads; then `took` gets the length. */
  readonly area = this.#buffer.subarray(headroom);
  readonly #onWritten = () => this.#written();
  #socket: Socket | undefined;
  #direct: DirectWrites | undefined;
  /** Bytes that were read and not yet handed on, `#buffer[#tornStart, #tornEnd)`: the beginning of a frame, or more while held. */
  #tornStart = headroom;
  #tornEnd = headroom;
  #held = false;
  /** Our socket still writes from the memory that was last sent. */
  #writing = false;

  readonly #onMark: ((mark: number) => void) | undefined;

  /** `onMark`: gets lengths from `firstMark` on, after which no frame follows. */
  constructor(owner: PortOwner, onMark?: (mark: number) => void) {
    this.#owner = owner;
    this.#onMark = onMark;
  }

  /** The other end of the link still writes from our buffer: nothing is read. */
  get held(): boolean {
    return this.#held;
  }

  /** Frames come and go over this socket from now on; what was torn of the last one is forgotten. */
  use(socket: Socket, direct?: DirectWrites): void {
    this.#socket = socket;
    this.#direct = direct;
    this.#forgetTorn();
  }

  /** Pauses the newly connected socket if frames are held. */
  ready(): void {
    if (this.#held) this.#socket?.pause();
  }

  /** `length` bytes were read into `area`. */
  took(socket: Socket, length: number): void {
    if (socket !== this.#socket || this.#held) return;
    this.#tornEnd = headroom + length;
    this.#walk(socket);
  }

  /** Sends frames, as `FabricPort.send`. */
  send(buffer: Buffer, start: number, end: number): boolean {
    const socket = this.#socket as Socket;
    const from = start + this.#writeNow(socket, buffer, start, end);
    if (from === end) return true;
    socket.write(buffer.subarray(from, end));
    // Node writes at once as much as the kernel takes; only what is left over counts here.
    if (socket.writableLength === 0 || socket.destroyed) return true;
    this.#writing = true;
    // Called when all before it was written. A callback with every write would cost each a turn of its own.
    socket.write(nothing, this.#onWritten);
    return false;
  }

  /** Writes to the descriptor itself. Returns how many bytes the kernel has taken. Errors are left to Node, which closes the socket. */
  #writeNow(socket: Socket, buffer: Buffer, start: number, end: number): number {
    const direct = this.#direct;
    // The descriptor of a socket that is destroyed may be another file's by now.
    if (!direct || socket.destroyed || socket.writableLength > 0) return 0;
    return Math.max(0, direct.native.write(direct.descriptor, buffer, start, end));
  }

  /** Hands on frames again, as `FabricPort.resume`. */
  resume(): void {
    if (!this.#held) return;
    this.#held = false;
    const socket = this.#socket;
    if (!socket) return;
    this.#walk(socket);
    if (!this.#held) socket.resume();
  }

  /** The socket has ended, or is given up. */
  lost(): void {
    this.#socket = undefined;
    if (!this.#writing) return;
    this.#writing = false;
    this.#owner.drained();
  }

  #written(): void {
    if (!this.#writing || this.#socket?.writableLength !== 0) return;
    this.#writing = false;
    this.#owner.drained();
  }

  /** Hands on what is whole, up to the first run that is held. */
  #walk(socket: Socket): void {
    while (this.#nextRun(socket));
  }

  /** True: what follows the run has to be looked at, too. */
  #nextRun(socket: Socket): boolean {
    const buffer = this.#buffer;
    const limit = this.#tornEnd;
    let start = this.#tornStart;
    let at = start;
    let frames = 0;
    let length = -1;
    while (limit - at >= headerBytes) {
      length = frameLength(buffer, at);
      if (frames === 0 && this.#isEmpty(length)) {
        if (length !== 0) this.#onMark?.(length);
        at += headerBytes;
        start = at;
        length = 0;
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
      return false;
    }
    if (frames > 0 && this.#isEmpty(length)) return true;
    if (length > maxFrameBytes) this.#resynchronise(socket);
    else this.#keepTorn();
    return false;
  }

  /** No frame follows the length. */
  #isEmpty(length: number): boolean {
    return length === 0 || (length >= firstMark && this.#onMark !== undefined);
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
