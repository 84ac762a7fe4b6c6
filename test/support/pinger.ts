/** Sends pings as Ethernet frames in UDP datagrams and counts the answers: one end of a link that is not the server's. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { waitFor } from './wait-for.ts';

const ownMac = Buffer.from([0x02, 0, 0, 0, 0, 0x99]);
const ownAddress = Buffer.from([10, 0, 0, 9]);
const payload = Buffer.alloc(56, 0x61);
const arpType = 0x0806;
const ipType = 0x0800;

export class Pinger {
  readonly #socket: Socket;
  readonly #target: { port: number; address: Buffer };
  readonly #sentAt = new Map<number, number>();
  #mac: Buffer | undefined;
  #timer: NodeJS.Timeout | undefined;
  #finished: Promise<void> | undefined;
  #onAnswer: ((tripMs: number, sequence: number) => void) | undefined;
  sent = 0;
  answered = 0;
  /** Frames that returned changed. */
  damaged = 0;
  longestMs = 0;

  private constructor(socket: Socket, target: { port: number; address: Buffer }) {
    this.#socket = socket;
    this.#target = target;
    socket.on('message', (frame) => this.#receive(frame));
  }

  /** `bind` gets the port that receives frames, and returns the port to which they are sent. */
  static async open(address: string, bind: (ownPort: number) => Promise<number>): Promise<Pinger> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const port = await bind(socket.address().port).catch((error: Error) => {
      socket.close();
      throw error;
    });
    return new Pinger(socket, { port, address: Buffer.from(address.split('.').map(Number)) });
  }

  /** Asks for the other side's hardware address until it answers. */
  async find(): Promise<void> {
    await waitFor(
      () => {
        this.#send(arp({ operation: 1, toMac: Buffer.alloc(6, 0xff), to: this.#target.address }));
        return this.#mac !== undefined;
      },
      { what: 'an answer to ARP', everyMs: 100 },
    );
  }

  /** Sends so many pings and gives the round trips of those that were answered soon, ms, ascending: for links that lose some. */
  burst(count: number, everyMs = 10): Promise<number[]> {
    return this.#burst(count, everyMs, 400);
  }

  /** Sends echoes over links that lose none: waits for the answers as long as a busy machine may take for them. */
  whole(count: number, everyMs = 10): Promise<number[]> {
    return this.#burst(count, everyMs, 10_000);
  }

  async #burst(count: number, everyMs: number, lastMs: number): Promise<number[]> {
    const trips: number[] = [];
    const before = this.sent;
    // Answers to pings of earlier bursts may still come.
    this.#onAnswer = (tripMs, sequence) => sequence > before && trips.push(tripMs);
    this.#timer = setInterval(() => this.sent < before + count && this.#ping(), everyMs);
    await waitFor(() => this.sent === before + count, { what: `${count} pings`, limitMs: 60_000 + count * everyMs });
    clearInterval(this.#timer);
    await waitFor(() => trips.length === count, { what: 'the last answers', limitMs: lastMs }).catch(() => undefined);
    this.#onAnswer = undefined;
    return trips.sort((a, b) => a - b);
  }

  start(everyMs: number): void {
    this.#timer = setInterval(() => this.#ping(), everyMs);
  }

  /** Stops sending and waits up to `lastMs` for the last answers; a busy machine may take seconds. May be called again. */
  finish(lastMs = 1000): Promise<void> {
    this.#finished ??= this.#finish(lastMs);
    return this.#finished;
  }

  async #finish(lastMs: number): Promise<void> {
    clearInterval(this.#timer);
    await waitFor(() => this.answered === this.sent, { what: 'the last answers', limitMs: lastMs }).catch(() => undefined);
    this.#socket.close();
  }

  #ping(): void {
    this.sent += 1;
    this.#sentAt.set(this.sent & 0xffff, performance.now());
    this.#send(echoRequest(this.#mac as Buffer, this.#target.address, this.sent & 0xffff));
  }

  #send(frame: Buffer): void {
    this.#socket.send(frame, this.#target.port, '127.0.0.1');
  }

  #receive(frame: Buffer): void {
    const type = frame.readUInt16BE(12);
    if (type === arpType) {
      const sender = frame.subarray(22, 28);
      if (frame.readUInt16BE(20) === 2) this.#mac = Buffer.from(sender);
      else if (frame.subarray(38, 42).equals(ownAddress))
        this.#send(arp({ operation: 2, toMac: sender, to: frame.subarray(28, 32) }));
      return;
    }
    if (type !== ipType || frame[23] !== 1 || frame[34] !== 0) return;
    const sequence = frame.readUInt16BE(40);
    const at = this.#sentAt.get(sequence);
    if (at === undefined) {
      this.damaged += 1;
      return;
    }
    this.#sentAt.delete(sequence);
    this.answered += 1;
    if (!frame.subarray(42).equals(payload)) this.damaged += 1;
    const tripMs = performance.now() - at;
    this.longestMs = Math.max(this.longestMs, tripMs);
    this.#onAnswer?.(tripMs, sequence);
  }
}

/** RFC 826. */
function arp({ operation, toMac, to }: { operation: 1 | 2; toMac: Buffer; to: Buffer }): Buffer {
  const head = Buffer.from([0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, operation]);
  const known = operation === 1 ? Buffer.alloc(6) : toMac;
  return Buffer.concat([toMac, ownMac, head, ownMac, ownAddress, known, to, Buffer.alloc(18)]);
}

/** RFC 792, in an IPv4 packet without options. */
function echoRequest(mac: Buffer, to: Buffer, sequence: number): Buffer {
  const icmp = Buffer.concat([Buffer.from([8, 0, 0, 0, 0x50, 0x42, 0, 0]), payload]);
  icmp.writeUInt16BE(sequence, 6);
  icmp.writeUInt16BE(checksum(icmp), 2);
  const ip = Buffer.alloc(20);
  ip.set([0x45, 0, 0, 20 + icmp.length, sequence >> 8, sequence & 0xff, 0, 0, 64, 1]);
  ownAddress.copy(ip, 12);
  to.copy(ip, 16);
  ip.writeUInt16BE(checksum(ip), 10);
  return Buffer.concat([mac, ownMac, Buffer.from([0x08, 0x00]), ip, icmp]);
}

/** RFC 1071; the field itself is 0 while it is computed. */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
