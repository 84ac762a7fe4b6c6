/** A socket of UDP that sends and receives many datagrams with each system call, by the calls of `native.ts`. */
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { frameLength, headerBytes } from '../frames.ts';
import { maxDatagrams, type UdpAddress } from './datagram-messages.ts';
import type { Native } from './native.ts';
import type { ReadableWatch } from './readable-watch.ts';

/** Calls that read in one turn, so that other ports have theirs. */
const callsPerTurn = 2;
/** A socket that is full is tried again after so long. The kernel empties it by itself. */
const fullRetryMs = 1;
const { EAGAIN, EMSGSIZE } = constants.errno;

interface UdpPlace {
  readonly host: string;
  readonly port: number;
}

/** The port, to its socket. */
export interface UdpOwner {
  /** Whether `buffer[from, to)` can be a datagram. */
  fits(buffer: Buffer, from: number, to: number): boolean;
  /** A datagram was not sent: an errno, negative; `EMSGSIZE` for one that does not fit. */
  failed(error: number): void;
  /** All frames of a `send` that answered false have been sent. */
  sent(): void;
  /** Makes room for a frame of this length, which is copied there at once. */
  place(length: number): FramePlace;
  /** All frames of this turn have their places. */
  received(): void;
}

interface FramePlace {
  readonly buffer: Buffer;
  readonly at: number;
}

interface BatchedUdpOptions {
  readonly local: UdpPlace;
  readonly peer: UdpPlace;
  /** Only what the peer sends is received. */
  readonly isStrict: boolean;
  readonly bufferBytes: number;
}

export class BatchedUdp {
  readonly #native: Native;
  readonly #owner: UdpOwner;
  readonly #peer: UdpAddress;
  readonly #isStrict: boolean;
  readonly #descriptor: number;
  readonly #watch: ReadableWatch;
  /** Frames that wait until the socket has room. */
  #waiting: { buffer: Buffer; at: number; end: number } | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @throws Error when it cannot be bound */
  constructor(native: Native, owner: UdpOwner, options: BatchedUdpOptions) {
    const { local, peer, isStrict, bufferBytes } = options;
    this.#native = native;
    this.#owner = owner;
    this.#peer = native.udpAddress(peer.host, peer.port);
    this.#isStrict = isStrict;
    const from = isStrict ? { from: this.#peer } : {};
    this.#descriptor = native.openUdp(native.udpAddress(local.host, local.port), { bufferBytes, ...from });
    if (this.#descriptor < 0) throw new Error(`bind ${getSystemErrorName(this.#descriptor)} ${local.host}:${local.port}`);
    this.#watch = native.watch(this.#descriptor, () => this.#read());
  }

  /** Frames that fit, `buffer[start, end)`. False: the memory must stay as it is until `sent`. */
  send(buffer: Buffer, start: number, end: number): boolean {
    const at = this.#sendFrom(buffer, start, end);
    if (at === end) return true;
    this.#waiting = { buffer, at, end };
    this.#timer = setTimeout(() => this.#sendOn(), fullRetryMs);
    return false;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watch.close();
    this.#native.close(this.#descriptor);
  }

  /** Where it has stopped, as the socket is full. */
  #sendFrom(buffer: Buffer, start: number, end: number): number {
    const { outgoing } = this.#native;
    let next = start;
    for (let at = start; at < end; at = next) {
      outgoing.clear();
      outgoing.addressTo(this.#peer);
      for (next = at; next < end && this.#adds(buffer, next); ) next += headerBytes + frameLength(buffer, next);
      const sent = this.#sendAll();
      if (sent < outgoing.count) return skip(buffer, at, sent);
      if (next > at) continue;
      this.#owner.failed(-EMSGSIZE);
      next += headerBytes + frameLength(buffer, at);
    }
    return end;
  }

  #adds(buffer: Buffer, at: number): boolean {
    const { outgoing } = this.#native;
    const from = at + headerBytes;
    const to = from + frameLength(buffer, at);
    return outgoing.count < maxDatagrams && this.#owner.fits(buffer, from, to) && outgoing.add(buffer, from, to);
  }

  /** Sends the datagrams of `outgoing`. Returns how many are sent or given up. */
  #sendAll(): number {
    const { outgoing } = this.#native;
    let done = 0;
    while (done < outgoing.count) {
      const sent = this.#native.sendDatagrams(this.#descriptor, done);
      if (sent === -EAGAIN) break;
      if (sent > 0) done += sent;
      else {
        this.#owner.failed(sent);
        done += 1;
      }
    }
    return done;
  }

  #sendOn(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    waiting.at = this.#sendFrom(waiting.buffer, waiting.at, waiting.end);
    if (waiting.at < waiting.end) {
      this.#timer = setTimeout(() => this.#sendOn(), fullRetryMs);
      return;
    }
    this.#waiting = undefined;
    this.#owner.sent();
  }

  #read(): void {
    const { incoming } = this.#native;
    for (let call = 0; call < callsPerTurn; call += 1) {
      if (this.#native.receiveDatagrams(this.#descriptor) <= 0) break;
      for (let index = 0; index < incoming.count; index += 1) {
        const length = incoming.length(index);
        if (length === 0 || (this.#isStrict && !incoming.isFrom(index, this.#peer))) continue;
        const { buffer, at } = this.#owner.place(length);
        incoming.copy(index, buffer, at);
      }
    }
    this.#owner.received();
  }
}

function skip(buffer: Buffer, start: number, frames: number): number {
  let at = start;
  for (let frame = 0; frame < frames; frame += 1) at += headerBytes + frameLength(buffer, at);
  return at;
}
