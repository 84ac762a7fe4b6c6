/**
 * Datagrams of UDP that one system call sends or receives: arrays of `struct mmsghdr`. Of a 64-bit system with little-endian numbers,
 * which is all that we have koffi for.
 *
 * @see sendmmsg(2), recvmmsg(2), ip(7)
 */
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type AddressIn, type Pieces, Vectors, vectorBytes } from './io-vectors.ts';

/** Most datagrams of a call. */
export const maxDatagrams = 64;
/** `struct msghdr`, 56 bytes, then the length of what was received and padding. */
const messageBytes = 64;
const nameLengthAt = 8;
const piecesAt = 16;
const pieceCountAt = 24;
const lengthAt = 56;
/**
 * `struct sockaddr_in6`: family, port (big-endian), flow, address, scope. `struct sockaddr_in` has its address in place of the flow, and
 * may be followed by other bytes.
 */
const nameBytes = 28;
const scopeAt = 24;
export const ipv4Family = 2;
const ipv6Family = 10;
/** Bytes that say who has sent a datagram: family, port, address. */
const senderBytes = { [ipv4Family]: 8, [ipv6Family]: 24 } as const;
/** More than the longest datagram. */
const slotBytes = 65_536;

export interface UdpAddress {
  readonly family: typeof ipv4Family | typeof ipv6Family;
  readonly bytes: Buffer;
}

/** inet_pton(3): writes the bytes of an address; 1: it is one. */
export type ReadAddress = (family: number, text: string, bytes: Buffer) => number;

/** `host`: an address of IPv4 or IPv6, the latter perhaps with a scope (`fe80::1%eth0`). @throws Error when it is none */
export function udpAddress(readAddress: ReadAddress, host: string, port: number): UdpAddress {
  const bytes = Buffer.alloc(nameBytes);
  const family = isIPv4(host) ? ipv4Family : ipv6Family;
  bytes.writeUInt16LE(family);
  bytes.writeUInt16BE(port, 2);
  const [address = '', scope] = host.split('%');
  if (readAddress(family, address, bytes.subarray(family === ipv4Family ? 4 : 8)) !== 1) throw new Error(`${host} is no address`);
  if (scope !== undefined) bytes.writeUInt32LE(scopeNumber(scope), scopeAt);
  return { family, bytes };
}

/** Returns the number of a scope, which is the name or the number of an interface. 0: there is no such interface. */
function scopeNumber(scope: string): number {
  return networkInterfaces()[scope]?.find(({ scopeid }) => scopeid)?.scopeid ?? (/^\d{1,9}$/.test(scope) ? Number(scope) : 0);
}

/** `nameStep`: bytes between the addresses of two datagrams; 0 when they have one address. */
function messages(addressIn: AddressIn, pieces: number, { names, nameStep }: { names: Buffer; nameStep: number }): Buffer {
  const memory = Buffer.allocUnsafeSlow(maxDatagrams * messageBytes).fill(0);
  for (let index = 0; index < maxDatagrams; index += 1) {
    const at = index * messageBytes;
    memory.writeBigUInt64LE(BigInt(addressIn(names) + index * nameStep), at);
    memory.writeUInt32LE(nameBytes, at + nameLengthAt);
    memory.writeBigUInt64LE(BigInt(pieces + index * vectorBytes), at + piecesAt);
    memory.writeUInt32LE(1, at + pieceCountAt);
  }
  return memory;
}

/** All to one address. */
export class OutgoingDatagrams implements Pieces {
  readonly #vectors: Vectors;
  readonly #to = Buffer.allocUnsafeSlow(nameBytes);
  readonly #messages: Buffer;
  readonly #address: number;

  constructor(addressIn: AddressIn) {
    this.#vectors = new Vectors(addressIn, maxDatagrams);
    this.#messages = messages(addressIn, this.#vectors.address, { names: this.#to, nameStep: 0 });
    this.#address = addressIn(this.#messages);
  }

  get count(): number {
    return this.#vectors.count;
  }

  clear(): void {
    this.#vectors.clear();
  }

  /** A datagram; as with `Pieces`. */
  add(buffer: Buffer, start: number, end: number): boolean {
    return this.#vectors.add(buffer, start, end);
  }

  addressTo({ bytes }: UdpAddress): void {
    bytes.copy(this.#to);
  }

  /** Address in memory of the message with this index. */
  addressFrom(index: number): number {
    return this.#address + index * messageBytes;
  }
}

export class IncomingDatagrams {
  readonly address: number;
  count = 0;
  readonly #slots = Buffer.allocUnsafeSlow(maxDatagrams * slotBytes);
  readonly #senders = Buffer.allocUnsafeSlow(maxDatagrams * nameBytes);
  readonly #messages: Buffer;
  readonly #vectors: Vectors;

  constructor(addressIn: AddressIn) {
    this.#vectors = new Vectors(addressIn, maxDatagrams);
    for (let index = 0; index < maxDatagrams; index += 1)
      this.#vectors.add(this.#slots, index * slotBytes, (index + 1) * slotBytes);
    this.#messages = messages(addressIn, this.#vectors.address, { names: this.#senders, nameStep: nameBytes });
    this.address = addressIn(this.#messages);
  }

  /** Gives the addresses of the datagrams that came last their whole room again, as the kernel noted how much of it they took. */
  prepare(): void {
    for (let index = 0; index < this.count; index += 1)
      this.#messages.writeUInt32LE(nameBytes, index * messageBytes + nameLengthAt);
  }

  length(index: number): number {
    return this.#messages.readUInt32LE(index * messageBytes + lengthAt);
  }

  isFrom(index: number, { bytes, family }: UdpAddress): boolean {
    const at = index * nameBytes;
    const used = senderBytes[family];
    return bytes.compare(this.#senders, at, at + used, 0, used) === 0;
  }

  copy(index: number, target: Buffer, at: number): void {
    this.#slots.copy(target, at, index * slotBytes, index * slotBytes + this.length(index));
  }
}
