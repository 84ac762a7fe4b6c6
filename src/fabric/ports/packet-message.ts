/**
 * `struct msghdr` for reading from a packet socket, and what the kernel says beside a packet: it takes the outermost VLAN tag out of a
 * frame that comes in. Of a 64-bit system with little-endian numbers, which is all that we have koffi for.
 *
 * @see recvmsg(2), cmsg(3), packet(7), linux/if_packet.h
 */

const messageBytes = 56;
const piecesAt = 16;
const pieceCountAt = 24;
const controlAt = 32;
const controlLengthAt = 40;
/** `struct cmsghdr`, then `struct tpacket_auxdata`, 20 bytes, and padding. */
const controlBytes = 40;
const controlHeaderBytes = 16;
const packetLevel = 263;
export const packetAuxData = 8;
/** Fields of `struct tpacket_auxdata`: status, the tag without its type, and its type. */
const statusAt = controlHeaderBytes;
const tagAt = controlHeaderBytes + 16;
const tagTypeAt = controlHeaderBytes + 18;
const hasTag = 1 << 4;
const hasTagType = 1 << 6;
const standardTagType = 0x8100;

export class PacketMessage {
  readonly address: number;
  readonly #message: Buffer;
  readonly #control: Buffer;

  constructor(addressIn: (buffer: Buffer) => number, pieces: number) {
    this.#message = Buffer.alloc(messageBytes);
    this.#control = Buffer.alloc(controlBytes);
    this.address = addressIn(this.#message);
    this.#message.writeBigUInt64LE(BigInt(pieces), piecesAt);
    this.#message.writeBigUInt64LE(BigInt(addressIn(this.#control)), controlAt);
  }

  /** Prepares the message for a call. Needed before each, as the kernel changes it. */
  prepare(pieceCount: number): void {
    this.#message.writeUInt32LE(pieceCount, pieceCountAt);
    this.#message.writeUInt32LE(controlBytes, controlLengthAt);
    this.#control.writeUInt32LE(0, statusAt);
  }

  /** The tag as on the wire, 4 bytes; zeros without one. */
  readTag(tag: Buffer): void {
    const control = this.#control;
    const isOurs = control.readUInt32LE(8) === packetLevel && control.readUInt32LE(12) === packetAuxData;
    const status = isOurs && this.#message.readUInt32LE(controlLengthAt) > 0 ? control.readUInt32LE(statusAt) : 0;
    if ((status & hasTag) === 0) {
      tag.fill(0);
      return;
    }
    tag.writeUInt16BE((status & hasTagType) === 0 ? standardTagType : control.readUInt16LE(tagTypeAt), 0);
    tag.writeUInt16BE(control.readUInt16LE(tagAt), 2);
  }
}
