/**
 * A port that carries one frame per datagram. What arrives together is collected, length-prefixed, and handed on in one run at the end
 * of the event loop's turn. UDP knows no back-pressure: what the link cannot take is lost, and counted there.
 */
import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Retry } from '../../lib/retry.ts';
import { frameLength, headerBytes, maxFrameBytes, putFrameLength } from '../frames.ts';
import type { PortSpec } from '../protocol.ts';
import { type FabricPort, type PortOwner, portRetry } from './port.ts';

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

export function openUdp(spec: UdpSpec, owner: PortOwner): FabricPort {
  return new UdpPort(spec, owner);
}

class UdpPort implements FabricPort {
  opened: Promise<void>;
  connected = false;
  oversized = 0;
  problem: string | undefined;
  readonly #spec: UdpSpec;
  readonly #owner: PortOwner;
  readonly #retry = new Retry(portRetry, () => {
    this.opened = this.#open();
  });
  readonly #onSent = () => this.#sent();
  readonly #onTurn = () => this.#flush();
  #socket: Socket | undefined;
  /** Made at the first datagram; replaced when the link holds it. */
  #batch: Buffer | undefined;
  #filled = 0;
  #frames = 0;
  #writing = false;
  #closed = false;

  constructor(spec: UdpSpec, owner: PortOwner) {
    this.#spec = spec;
    this.#owner = owner;
    this.opened = this.#open();
  }

  nudge(): void {
    if (!this.connected) this.#retry.nudge();
  }

  send(buffer: Buffer, start: number, end: number): boolean {
    const socket = this.#socket as Socket;
    let at = start;
    while (at < end) {
      const length = frameLength(buffer, at);
      const from = at + headerBytes;
      at = from + length;
      const frame = buffer.subarray(from, at);
      if (this.#fits(frame)) this.#post(socket, frame, at === end);
      else this.oversized += 1;
    }
    if (socket.getSendQueueCount() === 0) return true;
    this.#writing = true;
    return false;
  }

  /** The batch that was held has been replaced, so there is nothing to wait for. */
  resume(): void {}

  close(): void {
    this.#closed = true;
    this.#retry.stop();
    this.#drop();
  }

  #fits(frame: Buffer): boolean {
    const { mtu } = this.#spec;
    if (mtu === undefined) return frame.length <= maxDatagramBytes;
    if (frame.length < etherBytes || frame.length > maxDatagramBytes) return false;
    return frame.length <= mtu + etherBytes + (frame.readUInt16BE(12) === vlanType ? vlanBytes : 0);
  }

  /** A callback costs: only the last datagram of a run has one. Refusals and unreachable networks are the peer's absence. */
  #post(socket: Socket, frame: Buffer, last: boolean): void {
    const callback = last ? this.#onSent : undefined;
    if (this.#spec.strict) socket.send(frame, callback);
    else socket.send(frame, this.#spec.rport, this.#spec.rhost, callback);
  }

  #sent(): void {
    if (!this.#writing || this.#socket?.getSendQueueCount() !== 0) return;
    this.#writing = false;
    this.#owner.drained();
  }

  async #open(): Promise<void> {
    if (this.#closed) return;
    try {
      const { address, family } = await resolve(this.#spec.rhost);
      if (this.#closed) return;
      await this.#bind(address, family === 6 ? 'udp6' : 'udp4');
      this.connected = !this.#closed;
      this.problem = undefined;
      this.#retry.succeeded();
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      this.#drop();
      if (!this.#closed) this.#retry.failed();
    }
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
    if (this.#filled + headerBytes + length > batchBytes) this.#flush();
    this.#batch ??= Buffer.allocUnsafeSlow(batchBytes);
    if (this.#frames === 0) setImmediate(this.#onTurn);
    putFrameLength(this.#batch, this.#filled, length);
    frame.copy(this.#batch, this.#filled + headerBytes);
    this.#filled += headerBytes + length;
    this.#frames += 1;
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
