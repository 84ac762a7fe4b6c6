/**
 * A port on Unix datagram sockets: one frame per datagram, behind a header of fixed length. Node has no such sockets, so they are opened
 * by foreign calls (`native.ts`).
 *
 * The folder of the sockets can belong to the other program. That program could put a symbolic link in place of its socket, so the fabric
 * opens the socket itself (`O_PATH`, no links followed) and sends to what it has opened.
 */
import { chownSync, closeSync, lstatSync, unlinkSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { getSystemErrorName } from 'node:util';
import { Retry } from '../../lib/retry.ts';
import { openSocketFile } from '../../process/unix-socket.ts';
import { countFrames, frameLength, headerBytes, maxFrameBytes, putFrameLength } from '../frames.ts';
import type { PortSpec } from '../protocol.ts';
import { type FabricPort, type PortOwner, portRetry } from './port.ts';
import type { InterfaceMemory } from './port-interface.ts';
import type { ReadableWatch } from './readable-watch.ts';
import { type SocketAddress, unixAddress } from './unix-address.ts';

type SocketSpec = Extract<PortSpec, { type: 'datagrams' }>;

/** Most frames of one turn, so that other ports have theirs. */
const batchFrames = 128;
/**
 * Interval and limit of the attempts to reach a peer whose queue is full, ms. The kernel's queue holds 11 datagrams by default
 * (net.unix.max_dgram_qlen), which a program that runs empties at once; a program that hangs does not.
 */
const queueRetryMs = 1;
const queueLimitMs = 200;

const { EAGAIN, ENOBUFS, EMSGSIZE } = constants.errno;

export function openDatagrams(spec: SocketSpec, owner: PortOwner, access: InterfaceMemory): FabricPort {
  return new DatagramPort(spec, owner, access);
}

class DatagramPort implements FabricPort {
  readonly opened = Promise.resolve();
  connected = false;
  oversized = 0;
  problem: string | undefined;
  readonly refused = { no_peer: 0, queue_full: 0 };
  readonly #spec: SocketSpec;
  readonly #owner: PortOwner;
  readonly #access: InterfaceMemory;
  readonly #header: Buffer;
  /** A datagram on its way in or out. */
  readonly #datagram: Buffer;
  readonly #retry = new Retry(portRetry, () => this.#open());
  #descriptor = -1;
  #watch: ReadableWatch | undefined;
  #peer: { descriptor: number; address: SocketAddress } | undefined;
  /** The link still writes from this memory: nothing is read. */
  #held: Buffer | undefined;
  /** The peer's queue is full: what is still to be sent. */
  #waiting: { buffer: Buffer; at: number; end: number; untilMs: number } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(spec: SocketSpec, owner: PortOwner, access: InterfaceMemory) {
    this.#spec = spec;
    this.#owner = owner;
    this.#access = access;
    this.#header = Buffer.from(spec.header, 'hex');
    this.#datagram = Buffer.allocUnsafeSlow(this.#header.length + maxFrameBytes);
    this.#open();
  }

  nudge(): void {
    if (!this.connected) this.#retry.nudge();
  }

  send(buffer: Buffer, start: number, end: number): boolean {
    const at = this.#sendFrom(buffer, start, end);
    if (at === end) return true;
    this.#waiting = { buffer, at, end, untilMs: performance.now() + queueLimitMs };
    this.#timer = setTimeout(() => this.#sendOn(), queueRetryMs);
    return false;
  }

  resume(): void {
    if (!this.#held) return;
    this.#access.release(this.#held);
    this.#held = undefined;
    this.#watch?.resume();
  }

  close(): void {
    this.#closed = true;
    this.#retry.stop();
    clearTimeout(this.#timer);
    this.#dropPeer();
    if (!this.connected) return;
    this.connected = false;
    this.#watch?.close();
    this.#access.native.close(this.#descriptor);
    removeSocket(this.#spec.path);
  }

  #open(): void {
    if (this.#closed) return;
    removeSocket(this.#spec.path);
    const descriptor = this.#access.native.openDatagrams(this.#spec.path);
    if (descriptor < 0) {
      this.problem = `the socket ${this.#spec.path} cannot be opened (${getSystemErrorName(descriptor)})`;
      this.#retry.failed();
      return;
    }
    this.problem = undefined;
    giveToFolderOwner(this.#spec.path);
    this.#descriptor = descriptor;
    this.#watch = this.#access.native.watch(descriptor, () => this.#read());
    if (this.#held) this.#watch.pause();
    this.connected = true;
    this.#retry.succeeded();
  }

  #read(): void {
    if (this.#held || !this.connected) return;
    const { native } = this.#access;
    const buffer = this.#access.take();
    const target = { buffer: this.#datagram, at: 0, room: this.#datagram.length };
    let end = 0;
    let frames = 0;
    for (let looked = 0; looked < batchFrames && end + headerBytes + maxFrameBytes <= buffer.length; looked++) {
      const bytes = native.read(this.#descriptor, target);
      if (bytes < 0) break;
      const length = bytes - this.#header.length;
      if (length <= 0) continue;
      putFrameLength(buffer, end, length);
      this.#datagram.copy(buffer, end + headerBytes, this.#header.length, bytes);
      end += headerBytes + length;
      frames += 1;
    }
    if (frames === 0 || this.#owner.received(buffer, 0, end, frames)) this.#access.release(buffer);
    else this.#held = buffer;
    if (this.#held) this.#watch?.pause();
  }

  /** Sends until the peer's queue is full. @returns where it has stopped */
  #sendFrom(buffer: Buffer, start: number, end: number): number {
    for (let at = start; at < end; ) {
      const from = at + headerBytes;
      const next = from + frameLength(buffer, at);
      if (this.#sendOne(buffer, from, next) === -EAGAIN) return at;
      at = next;
    }
    return end;
  }

  /** A peer that is not there receives nothing, as with an unplugged cable. */
  #sendOne(buffer: Buffer, from: number, to: number): number {
    const address = this.#findPeer();
    if (!address) {
      this.refused.no_peer += 1;
      return 0;
    }
    const end = this.#header.copy(this.#datagram) + buffer.copy(this.#datagram, this.#header.length, from, to);
    const result = this.#access.native.sendDatagram(this.#descriptor, { buffer: this.#datagram, start: 0, end }, address);
    if (result === -EMSGSIZE) this.oversized += 1;
    else if (result === -ENOBUFS) this.refused.queue_full += 1;
    else if (result !== 0 && result !== -EAGAIN) {
      // The peer's socket was closed; another one may be at its path next time.
      this.refused.no_peer += 1;
      this.#dropPeer();
    }
    return result;
  }

  #sendOn(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    const at = this.#sendFrom(waiting.buffer, waiting.at, waiting.end);
    const now = performance.now();
    const hangs = at === waiting.at && now >= waiting.untilMs;
    if (at < waiting.end && !hangs) {
      this.#waiting = { ...waiting, at, untilMs: at > waiting.at ? now + queueLimitMs : waiting.untilMs };
      this.#timer = setTimeout(() => this.#sendOn(), queueRetryMs);
      return;
    }
    this.#waiting = undefined;
    this.refused.queue_full += countFrames(waiting.buffer, at, waiting.end);
    this.#owner.drained();
  }

  #findPeer(): SocketAddress | undefined {
    this.#peer ??= openPeer(this.#spec.peer);
    return this.#peer?.address;
  }

  #dropPeer(): void {
    if (this.#peer) closeSync(this.#peer.descriptor);
    this.#peer = undefined;
  }
}

/** Undefined while no socket is there. */
function openPeer(path: string): { descriptor: number; address: SocketAddress } | undefined {
  let descriptor: number;
  try {
    descriptor = openSocketFile(path);
  } catch {
    return undefined;
  }
  const address = unixAddress(`/proc/self/fd/${descriptor}`);
  if (address) return { descriptor, address };
  closeSync(descriptor);
  return undefined;
}

/** The socket of a fabric that was killed. */
function removeSocket(path: string): void {
  try {
    if (lstatSync(path).isSocket()) unlinkSync(path);
  } catch {
    // No socket is there to be removed.
  }
}

/**
 * Gives the socket to the owner of its folder. Sending to a socket is writing to it, and the other program, which owns the folder, must be
 * able to. That program may also have put another file in the socket's place, which is not given to it.
 */
function giveToFolderOwner(path: string): void {
  if (process.geteuid?.() !== 0) return;
  let descriptor: number | undefined;
  try {
    const { uid, gid } = lstatSync(dirname(path));
    descriptor = openSocketFile(path);
    chownSync(`/proc/self/fd/${descriptor}`, uid, gid);
  } catch {
    // The socket was removed or replaced meanwhile.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
