/**
 * Does what the kernel leaves to the reader of a TAP interface that takes over offloads: cuts large packets of TCP into the segments that
 * were meant, and completes checksums. So everything behind the port sees frames as on a cable, at a fraction of what reading them one by
 * one costs.
 */
import { headerBytes, maxFrameBytes, putFrameLength } from '../frames.ts';
import { foldedSum, onesSum } from './ones-sum.ts';

const etherBytes = 14;
const tagBytes = 4;
const tagTypes: readonly number[] = [0x8100, 0x88a8];
const typeOfIpv4 = 0x0800;
const typeOfIpv6 = 0x86dd;
const ipv6Bytes = 40;
const tcpBytes = 20;
const tcpProtocol = 6;
/** Headers of IPv6 that stand before TCP's: hop by hop, routing, destination. Source: RFC 8200 §4.1 */
const extensionHeaders: readonly number[] = [0, 43, 60];
/** Flags of TCP. Source: RFC 9293 §3.1 */
const finFlag = 0x01;
const pushFlag = 0x08;
const reducedFlag = 0x80;
/** Most bytes of a packet's headers: Ethernet with tags, IP and its options or extensions, TCP. */
const mostHeadersBytes = 256;
/** Lower bound of a segment's payload; the kernel's own bound is higher (`TCP_MIN_MSS`, less its options). */
const leastPayloadBytes = 32;

/** Most bytes of the segments of the longest packet that is read, with their lengths. */
export const maxCutBytes = maxFrameBytes + Math.ceil(maxFrameBytes / leastPayloadBytes) * (headerBytes + mostHeadersBytes);

/** Facts about a packet that the kernel gives. */
interface PacketNotes {
  /** Where TCP's header begins. */
  readonly tcp: number;
  /** Payload of each segment but the last one. */
  readonly payloadBytes: number;
}

/** Where segments go. */
interface SegmentsTarget {
  readonly buffer: Buffer;
  readonly view: DataView;
  readonly at: number;
}

export class SegmentCutter {
  /** Number of segments of the last packet. */
  frames = 0;

  /** Writes the segments of `packet`, each with its length in front. Where they end; 0 for what cannot be cut. */
  cut(packet: Buffer, { tcp, payloadBytes }: PacketNotes, { buffer, view, at }: SegmentsTarget): number {
    this.frames = 0;
    const ip = ipHeaderOf(packet);
    const headers = tcp + tcpBytes <= packet.length ? tcp + (((packet[tcp + 12] as number) & 0xf0) >>> 2) : 0;
    const isWhole = ip > 0 && headers >= tcp + tcpBytes && headers < packet.length && headers <= mostHeadersBytes;
    if (!isWhole || !isTcp(packet, ip, tcp) || payloadBytes < leastPayloadBytes) return 0;
    const isIpv4 = packet.readUInt16BE(ip - 2) === typeOfIpv4;
    const flags = packet[tcp + 13] as number;
    const sequence = packet.readUInt32BE(tcp + 4);
    const number = packet.readUInt16BE(ip + 4);
    const { addresses, version } = sumsOf(packet, ip, tcp);
    let to = at;
    for (let from = headers; from < packet.length; from += payloadBytes) {
      const until = Math.min(packet.length, from + payloadBytes);
      const length = headers + until - from;
      const start = to + headerBytes;
      putFrameLength(buffer, to, length);
      // A call of `copy` takes longer than so few bytes.
      for (let byte = 0; byte < headers; byte += 1) buffer[start + byte] = packet[byte] as number;
      packet.copy(buffer, start + headers, from, until);
      to = start + length;
      if (isIpv4) numberIpv4(view, start + ip, { length: length - ip, number: (number + this.frames) & 0xffff, version });
      else view.setUint16(start + ip + 4, length - ip - ipv6Bytes);
      view.setUint32(start + tcp + 4, (sequence + from - headers) >>> 0);
      const first = this.frames === 0 ? 0 : reducedFlag;
      const last = until === packet.length ? 0 : finFlag | pushFlag;
      buffer[start + tcp + 13] = flags & ~first & ~last;
      view.setUint16(start + tcp + 16, 0);
      view.setUint16(start + tcp + 16, 0xffff - onesSum(view, start + tcp, to, addresses + tcpProtocol + to - start - tcp));
      this.frames += 1;
    }
    return to;
  }
}

/** The checksum of `view[from, end)` belongs at `at`, where the part of it that is not in the range has been written. */
export function completeChecksum(view: DataView, at: number, { from, end }: { from: number; end: number }): void {
  if (from >= end || at < from || at + 2 > end) return;
  // 0 would be "none" with UDP, and is the same number.
  view.setUint16(at, 0xffff - onesSum(view, from, end) || 0xffff);
}

/** Sums that the checksums of all segments share: of both addresses, and of IPv4's header without its length, number and checksum. */
function sumsOf(packet: Buffer, ip: number, tcp: number): { addresses: number; version: number } {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.length);
  if (packet.readUInt16BE(ip - 2) !== typeOfIpv4) return { addresses: onesSum(view, ip + 8, ip + ipv6Bytes), version: 0 };
  const addresses = onesSum(view, ip + 12, ip + 20);
  const untilLength = onesSum(view, ip, ip + 2);
  const between = onesSum(view, ip + 6, ip + 10, untilLength);
  return { addresses, version: onesSum(view, ip + 12, tcp, between) };
}

function numberIpv4(view: DataView, ip: number, of: { length: number; number: number; version: number }): void {
  view.setUint16(ip + 2, of.length);
  view.setUint16(ip + 4, of.number);
  view.setUint16(ip + 10, 0xffff - foldedSum(of.version + of.length + of.number));
}

/** Position of the IP header, behind Ethernet's header and tags; 0 when there is none. */
function ipHeaderOf(packet: Buffer): number {
  let at = etherBytes;
  while (at + ipv6Bytes <= packet.length && tagTypes.includes(packet.readUInt16BE(at - 2))) at += tagBytes;
  return at + ipv6Bytes <= packet.length ? at : 0;
}

/** Whether TCP's header at `tcp` is that of the IP header at `ip`: of tunnels it is another one, and segments of UDP are none. */
function isTcp(packet: Buffer, ip: number, tcp: number): boolean {
  const type = packet.readUInt16BE(ip - 2);
  if (type === typeOfIpv4) return packet[ip + 9] === tcpProtocol && tcp === ip + (((packet[ip] as number) & 0x0f) << 2);
  const next = packet[ip + 6] as number;
  const isAhead = next === tcpProtocol ? tcp === ip + ipv6Bytes : extensionHeaders.includes(next) && tcp > ip + ipv6Bytes;
  return type === typeOfIpv6 && isAhead;
}
