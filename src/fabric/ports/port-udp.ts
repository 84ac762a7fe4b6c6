/**
 * A port that carries one frame per datagram. What arrives together is collected, length-prefixed, and handed on in one run at the end
 * of the event loop's turn. UDP knows no back-pressure: what the link cannot take is lost, and counted there.
 */
import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { isIP, isIPv4 } from 'node:net';
import { constants } from 'node:os';
import { Retry } from '../../lib/retry.ts';
import { frameLength, headerBytes, maxFrameBytes, putFrameLength } from '../frames.ts';
import type { PortSpec } from '../protocol.ts';
import type { Native } from './native.ts';
import { type FabricPort, type PortOwner, portRetry } from './port.ts';
import { BatchedUdp, type UdpOwner } from './udp-batches.ts';

type UdpSpec = Extract<PortSpec, { type: 'udp' }>;

/** Asked of the kernel, which grants at most net.core.rmem_max and wmem_max. */
const kernelBufferBytes = 4 * 1024 * 1024;
const batchBytes = 256 * 1024;
/** 65,535 less the headers of IPv4 and UDP. */
const maxDatagramBytes = 65_507;
/** Two addresses and a type; a tag of IEEE 802.1Q, and its type. */
const etherBytes = 14;
const vlanBytes = 4;
const vlanType = 0x8100;
const { EMSGSIZE, ENOBUFS } = constants.errno;
const nothing: Buffer = Buffer.alloc(0);

/** Without `native`, and with IPv6, each datagram is a system call. */
export function openUdp(spec: UdpSpec, owner: PortOwner, native: Native | undefined): FabricPort {
  return new UdpPort(spec, owner, native);
}

class UdpPort implements FabricPort {
  opened: Promise<void>;
  connected = false;
  oversized = 0;
  problem: string | undefined;
  readonly refused = { no_peer: 0, queue_full: 0 };
  readonly #spec: UdpSpec;
  readonly #owner: PortOwner;
  readonly #native: Native | undefined;
  readonly #retry = new Retry(portRetry, () => {
    this.opened = this.#open();
  });
  readonly #onSent = () => this.#sent();
  readonly #onTurn = () => this.#flush();
  /** Of `#batched`. */
  readonly #calls: UdpOwner = {
    fits: (buffer, from, to) => this.#fits(buffer, from, to),
    failed: (error) => this.#failed(error),
    sent: () => this.#sent(),
    place: (length) => this.#place(length),
    received: () => this.#flush(),
  };
  readonly #placed = { buffer: nothing, at: 0 };
  /** One of the two is open while the port is connected. */
  #batched: BatchedUdp | undefined;
  #socket: Socket | undefined;
  /** Made at the first datagram; replaced when the link holds it. */
  #batch: Buffer | undefined;
  #filled = 0;
  #frames = 0;
  #writing = false;
  #closed = false;

  constructor(spec: UdpSpec, owner: PortOwner, native: Native | undefined) {
    this.#spec = spec;
    this.#owner = owner;
    this.#native = native;
    this.opened = this.#open();
  }

  nudge(): void {
    if (!this.connected) this.#retry.nudge();
  }

  send(buffer: Buffer, start: number, end: number): boolean {
    this.#writing = !(this.#batched ? this.#batched.send(buffer, start, end) : this.#sendEach(buffer, start, end));
    return !this.#writing;
  }

  /** The batch that was held has been replaced, so there is nothing to wait for. */
  resume(): void {}

  close(): void {
    this.#closed = true;
    this.#retry.stop();
    this.#drop();
  }

  #sendEach(buffer: Buffer, start: number, end: number): boolean {
    const socket = this.#socket as Socket;
    for (let at = start; at < end; ) {
      const from = at + headerBytes;
      at = from + frameLength(buffer, at);
      if (this.#fits(buffer, from, at)) this.#post(socket, buffer.subarray(from, at), at === end);
      else this.oversized += 1;
    }
    return socket.getSendQueueCount() === 0;
  }

  #fits(buffer: Buffer, from: number, to: number): boolean {
    const { mtu } = this.#spec;
    const length = to - from;
    if (mtu === undefined) return length <= maxDatagramBytes;
    if (length < etherBytes || length > maxDatagramBytes) return false;
    return length <= mtu + etherBytes + (buffer.readUInt16BE(from + 12) === vlanType ? vlanBytes : 0);
  }

  /** A callback costs: only the last datagram of a run has one. Refusals and unreachable networks are the peer's absence. */
  #post(socket: Socket, frame: Buffer, last: boolean): void {
    const callback = last ? this.#onSent : undefined;
    if (this.#spec.strict) socket.send(frame, callback);
    else socket.send(frame, this.#spec.rport, this.#spec.rhost, callback);
  }

  /** A network that cannot be reached is the peer's absence. */
  #failed(error: number): void {
    if (error === -EMSGSIZE) this.oversized += 1;
    else if (error === -ENOBUFS) this.refused.queue_full += 1;
    else this.refused.no_peer += 1;
  }

  #sent(): void {
    if (!this.#writing || (this.#socket && this.#socket.getSendQueueCount() !== 0)) return;
    this.#writing = false;
    this.#owner.drained();
  }

  async #open(): Promise<void> {
    if (this.#closed) return;
    try {
      const { address, family } = await resolve(this.#spec.rhost);
      if (this.#closed) return;
      if (!this.#bindBatched(address)) await this.#bind(address, family === 6 ? 'udp6' : 'udp4');
      this.connected = !this.#closed;
      this.problem = undefined;
      this.#retry.succeeded();
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      this.#drop();
      if (!this.#closed) this.#retry.failed();
    }
  }

  /** False where Node's socket is needed. */
  #bindBatched(address: string): boolean {
    const { lport, rport, bind = '0.0.0.0', strict = false } = this.#spec;
    if (!this.#native || !isIPv4(address) || !isIPv4(bind)) return false;
    const [local, peer] = [
      { host: bind, port: lport },
      // What is sent to 0.0.0.0 comes to the loopback address, and is answered from there.
      { host: address === '0.0.0.0' ? '127.0.0.1' : address, port: rport },
    ];
    this.#batched = new BatchedUdp(this.#native, this.#calls, { local, peer, isStrict: strict, bufferBytes: kernelBufferBytes });
    return true;
  }

  async #bind(address: string, type: 'udp4' | 'udp6'): Promise<void> {
    const { lport, rport, bind, strict } = this.#spec;
    const socket = createSocket({
      type,
      recvBufferSize: kernelBufferBytes,
      sendBufferSize: kernelBufferBytes,
      // Answers at once with the address known since the beginning: sending stays synchronous.
      lookup: (name, _options, callback) => callback(null, name === this.#spec.rhost ? address : name, type === 'udp6' ? 6 : 4),
    });
    this.#socket = socket;
    await new Promise<void>((settle, refuse) => {
      socket.once('error', refuse);
      socket.bind({ port: lport, address: bind ?? (type === 'udp6' ? '::' : '0.0.0.0'), exclusive: true }, () => settle());
    });
    if (strict) await new Promise<void>((settle) => socket.connect(rport, address, () => settle()));
    socket.removeAllListeners('error');
    // ECONNREFUSED and the like: the peer is not there yet, or no more.
    socket.on('error', () => undefined);
    socket.on('message', (frame) => this.#arrived(socket, frame));
  }

  #drop(): void {
    this.connected = false;
    this.#batched?.close();
    this.#batched = undefined;
    const socket = this.#socket;
    this.#socket = undefined;
    try {
      socket?.close();
    } catch {
      // It never came to be open.
    }
    if (!this.#writing) return;
    this.#writing = false;
    this.#owner.drained();
  }

  #arrived(socket: Socket, frame: Buffer): void {
    const length = frame.length;
    if (socket !== this.#socket || length === 0 || length > maxFrameBytes) return;
    if (this.#frames === 0) setImmediate(this.#onTurn);
    const { buffer, at } = this.#place(length);
    frame.copy(buffer, at);
  }

  /** Makes room for a frame at the end of the batch. */
  #place(length: number): { readonly buffer: Buffer; readonly at: number } {
    if (this.#filled + headerBytes + length > batchBytes) this.#flush();
    this.#batch ??= Buffer.allocUnsafeSlow(batchBytes);
    putFrameLength(this.#batch, this.#filled, length);
    this.#placed.buffer = this.#batch;
    this.#placed.at = this.#filled + headerBytes;
    this.#filled += headerBytes + length;
    this.#frames += 1;
    return this.#placed;
  }

  #flush(): void {
    const batch = this.#batch;
    const end = this.#filled;
    const frames = this.#frames;
    if (!batch || frames === 0 || this.#closed) return;
    this.#filled = 0;
    this.#frames = 0;
    if (!this.#owner.received(batch, 0, end, frames)) this.#batch = undefined;
  }
}

async function resolve(host: string): Promise<{ address: string; family: number }> {
  const family = isIP(host);
  return family === 0 ? lookup(host) : { address: host, family };
}
