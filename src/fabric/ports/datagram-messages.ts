/**
 * Datagrams of UDP that one system call sends or receives: arrays of `struct mmsghdr`. Of a 64-bit system with little-endian numbers,
 * which is all that we have koffi for.
 *
 * @see sendmmsg(2), recvmmsg(2), ip(7)
 */
import { type AddressIn, type Pieces, Vectors, vectorBytes } from './io-vectors.ts';

/** In one call. */
export const maxDatagrams = 64;
/** `struct msghdr`, 56 bytes, then the length of what was received and padding. */
const messageBytes = 64;
const nameLengthAt = 8;
const piecesAt = 16;
const pieceCountAt = 24;
const lengthAt = 56;
/** `struct sockaddr_in`: family, port and address (big-endian), 8 bytes of padding. */
const nameBytes = 16;
const usedNameBytes = 8;
export const ipv4Family = 2;
/** More than the longest datagram. */
const slotBytes = 65_536;

export interface Ipv4Address {
  readonly bytes: Buffer;
}

/** `host` as four numbers with dots, which it must be. */
export function ipv4Address(host: string, port: number): Ipv4Address {
  const bytes = Buffer.alloc(nameBytes);
  bytes.writeUInt16LE(ipv4Family);
  bytes.writeUInt16BE(port, 2);
  bytes.set(host.split('.').map(Number), 4);
  return { bytes };
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

  addressTo({ bytes }: Ipv4Address): void {
    bytes.copy(this.#to);
  }

  /** In memory, of the datagram with this index. */
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

  length(index: number): number {
    return this.#messages.readUInt32LE(index * messageBytes + lengthAt);
  }

  isFrom(index: number, { bytes }: Ipv4Address): boolean {
    const at = index * nameBytes;
    return bytes.compare(this.#senders, at, at + usedNameBytes, 0, usedNameBytes) === 0;
  }

  copy(index: number, target: Buffer, at: number): void {
    this.#slots.copy(target, at, index * slotBytes, index * slotBytes + this.length(index));
  }
}
