/**
 * Consecutive segments of one TCP connection, which a TAP interface takes as one large packet: the receiving network stack then has
 * one packet to look at instead of dozens, as with network cards that merge what they receive (GRO). Nothing is lost by it: the segments
 * can be cut from the packet again exactly as they were, by the conditions below, which are those of Linux.
 *
 * A large packet has no checksum of its own, and is taken to be intact. So a segment is merged only if its checksum is right; one that
 * was damaged on its way is written as it is.
 */
import { frameLength, headerBytes, maxFrameBytes } from '../frames.ts';
import { onesSum } from './ones-sum.ts';

const etherBytes = 14;
const typeOfIpv4 = 0x0800;
const typeOfIpv6 = 0x86dd;
/** Lengths of headers without options. */
const ipv4Bytes = 20;
const ipv6Bytes = 40;
const tcpBytes = 20;
const tcpProtocol = 6;
/** Flags of TCP. Source: RFC 9293 §3.1 */
const pushFlag = 0x08;
const ackFlag = 0x10;
/** A packet's length is 16 bits; with IPv6 that is without its header. */
const maxPacketBytes = 65_535;
/** Reserved, and more fragments or not the first one; not "don't fragment". Source: RFC 791 §3.1 */
const fragmentBits = 0xbfff;

/** Places in `view`, and lengths in bytes, of one segment. */
interface Segment {
  ip: number;
  tcp: number;
  isIpv6: boolean;
  /** Where its payload begins, and ends. */
  payload: number;
  end: number;
}

export class SegmentRun {
  /** Number of frames of the run; with one, nothing below it holds. */
  frames = 0;
  /** End of the last frame. */
  next = 0;
  isIpv6 = false;
  /** Length of all headers together, Ethernet's included; and where that of TCP begins. */
  headersBytes = 0;
  tcpAt = 0;
  /** Payload of each segment but the last one, which may have less. */
  payloadBytes = 0;
  totalPayloadBytes = 0;
  isPushed = false;
  readonly #first: Segment = { ip: 0, tcp: 0, isIpv6: false, payload: 0, end: 0 };
  readonly #other: Segment = { ip: 0, tcp: 0, isIpv6: false, payload: 0, end: 0 };

  /** Finds the run that begins with the frame at `start`. `most`: of frames. */
  find(view: DataView, buffer: Buffer, { start, end, most }: { start: number; end: number; most: number }): void {
    const [first, other] = [this.#first, this.#other];
    let at = start + headerBytes + frameLength(buffer, start);
    this.frames = 1;
    this.next = at;
    if (at >= end || !readSegment(view, start, first)) return;
    const size = first.end - first.payload;
    const room = maxPacketBytes - (first.payload - first.ip);
    let total = size;
    let isPushed = isPush(view, first);
    if (isPushed || total > room) return;
    while (this.frames < most && at < end && readSegment(view, at, other)) {
      const length = other.end - other.payload;
      if (length > size || total + length > room || !follows(view, first, other, { index: this.frames, offset: total })) break;
      if (this.frames === 1 && !isIntact(view, first)) break;
      if (!isIntact(view, other)) break;
      total += length;
      at += headerBytes + frameLength(buffer, at);
      this.frames += 1;
      this.next = at;
      isPushed = isPush(view, other);
      if (isPushed || length < size) break;
    }
    this.isIpv6 = first.isIpv6;
    this.headersBytes = first.payload - start - headerBytes;
    this.tcpAt = first.tcp - start - headerBytes;
    this.payloadBytes = size;
    this.totalPayloadBytes = total;
    this.isPushed = isPushed;
  }
}

/** False for what is no segment with payload, or has something that is not merged. */
function readSegment(view: DataView, at: number, segment: Segment): boolean {
  const length = view.getUint32(at);
  if (length < etherBytes + ipv4Bytes + tcpBytes || length > maxFrameBytes) return false;
  const ip = at + headerBytes + etherBytes;
  const type = view.getUint16(ip - 2);
  const isIpv4 = type === typeOfIpv4 && isPlainIpv4(view, ip, length - etherBytes);
  const isIpv6 = type === typeOfIpv6 && isPlainIpv6(view, ip, length - etherBytes);
  if (!isIpv4 && !isIpv6) return false;
  const tcp = ip + (isIpv4 ? ipv4Bytes : ipv6Bytes);
  const optionsAndReserved = view.getUint8(tcp + 12);
  const flags = view.getUint8(tcp + 13) & ~pushFlag;
  segment.ip = ip;
  segment.tcp = tcp;
  segment.isIpv6 = isIpv6;
  segment.payload = tcp + ((optionsAndReserved & 0xf0) >>> 2);
  segment.end = at + headerBytes + length;
  return (
    flags === ackFlag && (optionsAndReserved & 0x0f) === 0 && segment.payload >= tcp + tcpBytes && segment.payload < segment.end
  );
}

/** Whether the header is that of TCP over IPv4 without options or fragments, with a right checksum, and no padding follows the packet. */
function isPlainIpv4(view: DataView, ip: number, length: number): boolean {
  return (
    view.getUint8(ip) === 0x45 &&
    view.getUint16(ip + 2) === length &&
    (view.getUint16(ip + 6) & fragmentBits) === 0 &&
    view.getUint8(ip + 9) === tcpProtocol &&
    onesSum(view, ip, ip + ipv4Bytes) === 0xffff
  );
}

function isPlainIpv6(view: DataView, ip: number, length: number): boolean {
  return (
    length >= ipv6Bytes + tcpBytes &&
    view.getUint8(ip) >>> 4 === 6 &&
    view.getUint16(ip + 4) === length - ipv6Bytes &&
    view.getUint8(ip + 6) === tcpProtocol
  );
}

/** Whether `other` is what would be cut as the segment of this index, with its payload at this offset from the first one's. */
function follows(view: DataView, first: Segment, other: Segment, place: { index: number; offset: number }): boolean {
  if (first.isIpv6 !== other.isIpv6 || first.payload - first.ip !== other.payload - other.ip) return false;
  const byIp = first.isIpv6 ? isSameIpv6(view, first.ip, other.ip) : isSameIpv4(view, first.ip, other.ip, place.index);
  const sequence = (view.getUint32(first.tcp + 4) + place.offset) >>> 0;
  return (
    byIp &&
    isEqual(view, first.ip - etherBytes, other.ip - etherBytes, etherBytes) &&
    view.getUint32(other.tcp + 4) === sequence &&
    view.getUint32(first.tcp) === view.getUint32(other.tcp) &&
    view.getUint32(first.tcp + 8) === view.getUint32(other.tcp + 8) &&
    view.getUint16(first.tcp + 14) === view.getUint16(other.tcp + 14) &&
    view.getUint16(first.tcp + 18) === view.getUint16(other.tcp + 18) &&
    isEqual(view, first.tcp + tcpBytes, other.tcp + tcpBytes, first.payload - first.tcp - tcpBytes)
  );
}

/** All but length, number and checksum; the numbers count up, as they will when the packet is cut. */
function isSameIpv4(view: DataView, first: number, other: number, index: number): boolean {
  return (
    view.getUint16(first) === view.getUint16(other) &&
    ((view.getUint16(first + 4) + index) & 0xffff) === view.getUint16(other + 4) &&
    view.getUint32(first + 6) >>> 8 === view.getUint32(other + 6) >>> 8 &&
    isEqual(view, first + 12, other + 12, 8)
  );
}

function isSameIpv6(view: DataView, first: number, other: number): boolean {
  return isEqual(view, first, other, 4) && isEqual(view, first + 6, other + 6, ipv6Bytes - 6);
}

function isEqual(view: DataView, one: number, other: number, bytes: number): boolean {
  for (let offset = 0; offset < bytes; offset += 2)
    if (view.getUint16(one + offset) !== view.getUint16(other + offset)) return false;
  return true;
}

function isPush(view: DataView, { tcp }: Segment): boolean {
  return (view.getUint8(tcp + 13) & pushFlag) !== 0;
}

/** The checksum of TCP is right. */
function isIntact(view: DataView, { ip, tcp, end, isIpv6 }: Segment): boolean {
  const addresses = isIpv6 ? onesSum(view, ip + 8, ip + ipv6Bytes) : onesSum(view, ip + 12, ip + ipv4Bytes);
  return onesSum(view, tcp, end, addresses + tcpProtocol + end - tcp) === 0xffff;
}
