/**
 * Frames of an interface of this host, TAP or packet socket. The kernel precedes each packet by a header about offloads: large packets
 * of TCP are read in one piece and cut here (`segment-cutter.ts`), and consecutive segments are written in one piece
 * (`segment-run.ts`) where the specification says that they may be merged. The fabric itself has frames as on a cable.
 */
import { constants } from 'node:os';
import { frameLength, headerBytes, maxFrameBytes, putFrameLength } from '../frames.ts';
import type { PortSpec } from '../protocol.ts';
import type { FrameRange, InterfaceAccess, Taken, Written } from './interface-access.ts';
import type { InterfacePlace } from './interface-place.ts';
import type { Pieces } from './io-vectors.ts';
import { maxPieces, type Native } from './native.ts';
import { onesSum } from './ones-sum.ts';
import { completeChecksum, SegmentCutter } from './segment-cutter.ts';
import { SegmentRun } from './segment-run.ts';

/**
 * `struct virtio_net_hdr`: flags, type of segments, length of all headers, payload of each segment, where to begin the checksum, and
 * where in there to write it. In the order of bytes of the machine, which is little-endian on all that we have koffi for.
 *
 * @see linux/virtio_net.h
 */
const offloadHeaderBytes = 10;
const needsChecksum = 1;
const segmentsOfIpv4 = 1;
const segmentsOfIpv6 = 4;
/** Ethernet, IPv6 and the longest header of TCP. */
const mostHeadersBytes = 14 + 40 + 60;
const etherBytes = 14;
/** Two addresses stand before the tag of IEEE 802.1Q. */
const tagAt = 12;
const tagBytes = 4;
const tcpProtocol = 6;
/** Fields of TCP's header. */
const flagsAt = 13;
const checksumAt = 16;
const pushFlag = 0x08;

const { EAGAIN, EINVAL } = constants.errno;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A view of all of a buffer; the last one is kept. */
class ViewOf {
  #buffer: Buffer | undefined;
  #view = new DataView(new ArrayBuffer(0));

  view(buffer: Buffer): DataView {
    if (this.#buffer !== buffer) {
      this.#buffer = buffer;
      this.#view = new DataView(buffer.buffer as ArrayBuffer, buffer.byteOffset, buffer.length);
    }
    return this.#view;
  }
}

/** The device that a port opens; its packets have offload headers. */
export interface OffloadDevice {
  readonly name: string;
  readonly place: InterfacePlace;
  readonly hasQueue: boolean;
  /** Segments may be written as one packet. */
  readonly merges: boolean;
  /** The device is a packet socket: the kernel takes VLAN tags out of frames. */
  readonly losesTags?: boolean;
  /** A descriptor, or an errno, negative. Never rejects. */
  open(): number | Promise<number>;
  /** Called before the descriptor is closed. */
  release?(descriptor: number): void;
}

export class OffloadFrames implements InterfaceAccess {
  readonly name: string;
  readonly place: InterfacePlace;
  readonly hasQueue: boolean;
  readonly #device: OffloadDevice;
  readonly #native: Native;
  readonly #pieces: Pieces;
  readonly #plain = Buffer.alloc(offloadHeaderBytes);
  /** Offload header of the packet that was read. */
  readonly #notes = Buffer.alloc(offloadHeaderBytes);
  readonly #cutter = new SegmentCutter();
  /** The VLAN tag that the kernel took out of the frame that was read. */
  readonly #tag = Buffer.alloc(tagBytes);
  readonly #target: { readonly buffer: Buffer; readonly at: number; readonly room: number; readonly tag?: Buffer };
  readonly #taken: Mutable<Taken> = { result: 0, frames: 0, end: 0 };
  /** Headers of a packet of several segments: the offload header, and all headers of the packet. */
  readonly #head = Buffer.allocUnsafeSlow(offloadHeaderBytes + mostHeadersBytes);
  readonly #headView = new DataView(this.#head.buffer);
  readonly #run = new SegmentRun();
  readonly #search = { start: 0, end: 0, most: maxPieces - 1 };
  readonly #written: Mutable<Written> = { result: 0, frames: 0, next: 0 };
  /** Shared by all such ports: the packet that was read. */
  readonly #packet: Buffer;
  #merges: boolean;
  readonly #source = new ViewOf();
  readonly #sink = new ViewOf();

  constructor(device: OffloadDevice, native: Native, packet: Buffer) {
    this.#packet = packet;
    this.#device = device;
    this.name = device.name;
    this.place = device.place;
    this.hasQueue = device.hasQueue;
    this.#merges = device.merges;
    const room = device.losesTags ? maxFrameBytes - tagBytes : maxFrameBytes;
    this.#target = { buffer: packet, at: 0, room, ...(device.losesTags && { tag: this.#tag }) };
    this.#native = native;
    this.#pieces = native.pieces();
  }

  open(): number | Promise<number> {
    return this.#device.open();
  }

  release(descriptor: number): void {
    this.#device.release?.(descriptor);
  }

  change(spec: PortSpec): void {
    if (spec.type === 'tap') this.#merges = spec.merges ?? false;
  }

  read(descriptor: number, buffer: Buffer, at: number): Taken {
    const [taken, notes] = [this.#taken, this.#notes];
    const read = this.#native.readBehind(descriptor, notes, this.#target);
    const length = read > tagAt && this.#tag.readUInt16BE(0) !== 0 ? this.#insertTag(read) : read;
    // A packet of which the kernel cannot say how to cut it was dropped.
    const isUnknown = length === -EINVAL;
    taken.result = length > 0 || isUnknown ? 0 : length || -EAGAIN;
    taken.frames = isUnknown ? 0 : 1;
    taken.end = at;
    if (length <= 0) return taken;
    if ((notes[1] as number) !== 0 && this.#cut(buffer, at, length)) return taken;
    const start = at + headerBytes;
    putFrameLength(buffer, at, length);
    taken.end = start + this.#packet.copy(buffer, start, 0, length);
    if ((notes[1] as number) === 0 && ((notes[0] as number) & needsChecksum) !== 0) {
      const from = start + notes.readUInt16LE(6);
      completeChecksum(this.#source.view(buffer), from + notes.readUInt16LE(8), { from, end: taken.end });
    }
    return taken;
  }

  /** The length with the tag. */
  #insertTag(length: number): number {
    const packet = this.#packet;
    packet.copyWithin(tagAt + tagBytes, tagAt, length);
    this.#tag.copy(packet, tagAt);
    // Where the checksum begins.
    this.#notes.writeUInt16LE(this.#notes.readUInt16LE(6) + tagBytes, 6);
    return length + tagBytes;
  }

  /** False for what cannot be cut: it is passed on as it is. */
  #cut(buffer: Buffer, at: number, length: number): boolean {
    const notes = this.#notes;
    const found = { tcp: notes.readUInt16LE(6), payloadBytes: notes.readUInt16LE(4) };
    const end = this.#cutter.cut(this.#packet.subarray(0, length), found, { buffer, view: this.#source.view(buffer), at });
    if (end === 0) return false;
    this.#taken.frames = this.#cutter.frames;
    this.#taken.end = end;
    return true;
  }

  write(descriptor: number, { buffer, start, end }: FrameRange): Written {
    const [pieces, written] = [this.#pieces, this.#written];
    written.frames = 1;
    written.next = start + headerBytes + frameLength(buffer, start);
    if (this.#merges && written.next < end) this.#find(buffer, start, end);
    if (written.frames > 1) {
      written.result = this.#writeRun(descriptor, buffer, start);
      if (written.result !== -EINVAL) return written;
      // This kernel takes no such packets.
      this.#merges = false;
      written.frames = 1;
      written.next = start + headerBytes + frameLength(buffer, start);
    }
    pieces.clear();
    pieces.add(this.#plain, 0, offloadHeaderBytes);
    pieces.add(buffer, start + headerBytes, written.next);
    written.result = this.#native.writePieces(descriptor, pieces);
    return written;
  }

  #writeRun(descriptor: number, buffer: Buffer, start: number): number {
    const [run, pieces] = [this.#run, this.#pieces];
    this.#fillHead(buffer, start + headerBytes);
    pieces.clear();
    pieces.add(this.#head, 0, offloadHeaderBytes + run.headersBytes);
    for (let at = start; at < run.next; ) {
      const from = at + headerBytes;
      at = from + frameLength(buffer, at);
      pieces.add(buffer, from + run.headersBytes, at);
    }
    return this.#native.writePieces(descriptor, pieces);
  }

  #find(buffer: Buffer, start: number, end: number): void {
    const [run, search] = [this.#run, this.#search];
    search.start = start;
    search.end = end;
    run.find(this.#sink.view(buffer), buffer, search);
    this.#written.frames = run.frames;
    this.#written.next = run.next;
  }

  /** Makes the headers of a packet of several segments from those of the first segment, at `from`. */
  #fillHead(buffer: Buffer, from: number): void {
    const { isIpv6, headersBytes, tcpAt, payloadBytes, totalPayloadBytes, isPushed } = this.#run;
    const [head, view] = [this.#head, this.#headView];
    const [ip, tcp] = [offloadHeaderBytes + etherBytes, offloadHeaderBytes + tcpAt];
    head[0] = needsChecksum;
    head[1] = isIpv6 ? segmentsOfIpv6 : segmentsOfIpv4;
    view.setUint16(2, headersBytes, true);
    view.setUint16(4, payloadBytes, true);
    view.setUint16(6, tcpAt, true);
    view.setUint16(8, checksumAt, true);
    buffer.copy(head, offloadHeaderBytes, from, from + headersBytes);
    const tcpLength = headersBytes - tcpAt + totalPayloadBytes;
    if (isIpv6) view.setUint16(ip + 4, tcpLength);
    else {
      view.setUint16(ip + 2, tcp - ip + tcpLength);
      view.setUint16(ip + 10, 0);
      view.setUint16(ip + 10, 0xffff - onesSum(view, ip, tcp));
    }
    if (isPushed) view.setUint8(tcp + flagsAt, view.getUint8(tcp + flagsAt) | pushFlag);
    // The checksum covers the fields that are known before the payload: the kernel adds the rest where a process needs it.
    view.setUint16(tcp + checksumAt, onesSum(view, ip + (isIpv6 ? 8 : 12), tcp, tcpProtocol + tcpLength));
  }
}
