/**
 * Frames of a TAP interface, each of which the kernel precedes by a header about offloads. What it reads has none: the interface is not
 * asked to take over any (`TUNSETOFFLOAD`), so the kernel cuts segments and completes checksums. What is written may be several segments
 * of TCP as one packet, where the specification says that they may be merged.
 */
import { frameLength, headerBytes } from '../frames.ts';
import type { PortSpec } from '../protocol.ts';
import type { FrameRange, InterfaceAccess, Written } from './interface-access.ts';
import { maxPieces, type Native, type Pieces } from './native.ts';
import { onesSum } from './ones-sum.ts';
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
const tcpProtocol = 6;
/** In TCP's header. */
const flagsAt = 13;
const checksumAt = 16;
const pushFlag = 0x08;

export class TapFrames implements InterfaceAccess {
  readonly name: string;
  readonly hasQueue = true;
  readonly #native: Native;
  readonly #pieces: Pieces;
  readonly #plain = Buffer.alloc(offloadHeaderBytes);
  readonly #discarded = Buffer.alloc(offloadHeaderBytes);
  /** Of several segments: the header about offloads, and all headers of the packet. */
  readonly #head = Buffer.allocUnsafeSlow(offloadHeaderBytes + mostHeadersBytes);
  readonly #headView = new DataView(this.#head.buffer);
  readonly #run = new SegmentRun();
  readonly #search = { start: 0, end: 0, most: maxPieces - 1 };
  readonly #written: { -readonly [K in keyof Written]: Written[K] } = { result: 0, frames: 0, next: 0 };
  #merges: boolean;
  /** Of the memory from which was written last. */
  #view: DataView = new DataView(this.#head.buffer);

  constructor({ name, merges = false }: Extract<PortSpec, { type: 'tap' }>, native: Native) {
    this.name = name;
    this.#merges = merges;
    this.#native = native;
    this.#pieces = native.pieces();
  }

  open(): number {
    return this.#native.openTap(this.name, { hasOffloadHeader: true });
  }

  change(spec: PortSpec): void {
    if (spec.type === 'tap') this.#merges = spec.merges ?? false;
  }

  read(descriptor: number, target: { buffer: Buffer; at: number; room: number }): number {
    return this.#native.readBehind(descriptor, this.#discarded, target);
  }

  write(descriptor: number, { buffer, start, end }: FrameRange): Written {
    const [run, pieces, written] = [this.#run, this.#pieces, this.#written];
    written.frames = 1;
    written.next = start + headerBytes + frameLength(buffer, start);
    if (this.#merges && written.next < end) this.#find(buffer, start, end);
    pieces.clear();
    if (written.frames > 1) {
      this.#fillHead(buffer, start + headerBytes);
      pieces.add(this.#head, 0, offloadHeaderBytes + run.headersBytes);
      for (let at = start; at < run.next; ) {
        const from = at + headerBytes;
        at = from + frameLength(buffer, at);
        pieces.add(buffer, from + run.headersBytes, at);
      }
    } else {
      pieces.add(this.#plain, 0, offloadHeaderBytes);
      pieces.add(buffer, start + headerBytes, written.next);
    }
    written.result = this.#native.writePieces(descriptor, pieces);
    return written;
  }

  #find(buffer: Buffer, start: number, end: number): void {
    const [run, search] = [this.#run, this.#search];
    if (this.#view.buffer !== buffer.buffer || this.#view.byteOffset !== buffer.byteOffset || this.#view.byteLength !== buffer.length) {
      this.#view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
    }
    search.start = start;
    search.end = end;
    run.find(this.#view, buffer, search);
    this.#written.frames = run.frames;
    this.#written.next = run.next;
  }

  /** From the headers of the first segment, at `from`. */
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
    // As far as it is known before the payload: the kernel adds the rest where somebody needs it.
    view.setUint16(tcp + checksumAt, onesSum(view, ip + (isIpv6 ? 8 : 12), tcp, tcpProtocol + tcpLength));
  }
}
