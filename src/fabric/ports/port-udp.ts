/**
 * A port that carries one frame per datagram. What arrives together is collected, length-prefixed, and handed on in one run at the end
 * of the event loop's turn. UDP knows no back-pressure: what the link cannot take is lost, and counted there.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { constants } from 'node:os';
import { Retry } from '../../lib/retry.ts';
import { headerBytes, putFrameLength } from '../frames.ts';
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
/** Addresses that stand for every one of the host, and those of the loopback interface. */
const everyAddress = { ipv4: { any: '0.0.0.0', loopback: '127.0.0.1' }, ipv6: { any: '::', loopback: '::1' } } as const;
const { EMSGSIZE, ENOBUFS } = constants.errno;
const nothing: Buffer = Buffer.alloc(0);

export function openUdp(spec: UdpSpec, owner: PortOwner, native: Native): FabricPort {
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
  readonly #native: Native;
  readonly #retry = new Retry(portRetry, () => {
    this.opened = this.#open();
  });
  /** Callbacks of `#socket`. */
  readonly #calls: UdpOwner = {
    fits: (buffer, from, to) => this.#fits(buffer, from, to),
    failed: (error) => this.#failed(error),
    sent: () => this.#sent(),
    place: (length) => this.#place(length),
    received: () => this.#flush(),
  };
  readonly #placed = { buffer: nothing, at: 0 };
  /** Open while the port is connected. */
  #socket: BatchedUdp | undefined;
  /** Made at the first datagram; replaced when the link holds it. */
  #batch: Buffer | undefined;
  #filled = 0;
  #frames = 0;
  #writing = false;
  #closed = false;

  constructor(spec: UdpSpec, owner: PortOwner, native: Native) {
    this.#spec = spec;
    this.#owner = owner;
    this.#native = native;
    this.opened = this.#open();
  }

  nudge(): void {
    if (!this.connected) this.#retry.nudge();
  }

  send(buffer: Buffer, start: number, end: number): boolean {
    this.#writing = this.#socket?.send(buffer, start, end) === false;
    return !this.#writing;
  }

  /** The batch that was held has been replaced, so there is nothing to wait for. */
  resume(): void {}

  close(): void {
    this.#closed = true;
    this.#retry.stop();
    this.#drop();
  }

  #fits(buffer: Buffer, from: number, to: number): boolean {
    const { mtu } = this.#spec;
    const length = to - from;
    if (mtu === undefined) return length <= maxDatagramBytes;
    if (length < etherBytes || length > maxDatagramBytes) return false;
    return length <= mtu + etherBytes + (buffer.readUInt16BE(from + 12) === vlanType ? vlanBytes : 0);
  }

  /** A network that cannot be reached is the peer's absence. */
  #failed(error: number): void {
    if (error === -EMSGSIZE) this.oversized += 1;
    else if (error === -ENOBUFS) this.refused.queue_full += 1;
    else this.refused.no_peer += 1;
  }

  #sent(): void {
    if (!this.#writing) return;
    this.#writing = false;
    this.#owner.drained();
  }

  async #open(): Promise<void> {
    if (this.#closed) return;
    try {
      const { address, family } = await resolve(this.#spec.rhost);
      if (this.#closed) return;
      this.#bind(address, family === 6 ? everyAddress.ipv6 : everyAddress.ipv4);
      this.connected = true;
      this.problem = undefined;
      this.#retry.succeeded();
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      this.#drop();
      if (!this.#closed) this.#retry.failed();
    }
  }

  /** @throws Error when the port cannot be bound */
  #bind(address: string, { any, loopback }: { any: string; loopback: string }): void {
    const { lport, rport, bind = any, strict = false } = this.#spec;
    const local = { host: bind, port: lport };
    // Datagrams to every address come to the loopback address, and are answered from there.
    const peer = { host: address === any ? loopback : address, port: rport };
    this.#socket = new BatchedUdp(this.#native, this.#calls, { local, peer, isStrict: strict, bufferBytes: kernelBufferBytes });
  }

  #drop(): void {
    this.connected = false;
    this.#socket?.close();
    this.#socket = undefined;
    if (!this.#writing) return;
    this.#writing = false;
    this.#owner.drained();
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
