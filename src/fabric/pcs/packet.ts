/** IPv4 and IPv6 packets as values, and their bytes. Reading never trusts a length: undefined means that the bytes are no packet. */
import { onesSum } from '../ports/ones-sum.ts';
import { addressOf, bytesOf, isIp6, putAddress } from './addresses.ts';

export const protocols = { icmp: 1, tcp: 6, udp: 17, icmp6: 58 } as const;
export const etherTypes = { ip4: 0x0800, arp: 0x0806, ip6: 0x86dd } as const;
const ip4HeaderBytes = 20;
const fragmentHeader = 44;
/** Hop-by-hop options, routing, destination options: skipped. */
const extensionHeaders = [0, 43, 60];
const mostExtensions = 8;

export interface Packet {
  readonly src: string;
  readonly dst: string;
  readonly protocol: number;
  readonly ttl: number;
  readonly payload: Uint8Array;
}

export interface Fragment {
  /** Distinguishes datagrams between the same hosts. */
  readonly id: number;
  /** Bytes. */
  readonly offset: number;
  readonly more: boolean;
}

export interface ReceivedPacket extends Packet {
  readonly fragment?: Fragment;
  /** The whole datagram with its header, for ICMP errors. */
  readonly datagram: Uint8Array;
}

export const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
export const u16 = (bytes: Uint8Array, at: number) => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
export const u32 = (bytes: Uint8Array, at: number) => u16(bytes, at) * 0x10000 + u16(bytes, at + 2);
export const be16 = (value: number) => [(value >> 8) & 0xff, value & 0xff];
export const be32 = (value: number) => [...be16(value >>> 16), ...be16(value & 0xffff)];

/** RFC 1071, of `bytes` and the sum `initial`. */
export function checksum(bytes: Uint8Array, initial = 0): number {
  return ~onesSum(viewOf(bytes), 0, bytes.length, initial) & 0xffff;
}

/** The checksum with the pseudo-header of RFC 793, 3.1 and RFC 8200, 8.1; ICMP of IPv4 has none. Zero over a right one. */
export function transportChecksum({ src, dst, protocol, payload }: Omit<Packet, 'ttl'>): number {
  if (protocol === protocols.icmp) return checksum(payload);
  const pseudo = Uint8Array.from([...bytesOf(src), ...bytesOf(dst), ...be32(payload.length), 0, 0, 0, protocol]);
  return checksum(payload, ~checksum(pseudo) & 0xffff);
}

/** The payload with its checksum written at `at`. */
export function withChecksum(packet: Packet, at: number): Packet {
  viewOf(packet.payload).setUint16(at, 0);
  const sum = transportChecksum(packet);
  viewOf(packet.payload).setUint16(at, sum === 0 && packet.protocol === protocols.udp ? 0xffff : sum);
  return packet;
}

export function readPacket(type: number, bytes: Uint8Array): ReceivedPacket | undefined {
  if (type === etherTypes.ip4) return readIp4(bytes);
  return type === etherTypes.ip6 ? readIp6(bytes) : undefined;
}

function readIp4(bytes: Uint8Array): ReceivedPacket | undefined {
  const headerLength = ((bytes[0] ?? 0) & 15) * 4;
  const length = u16(bytes, 2);
  if (bytes.length < 20 || (bytes[0] ?? 0) >> 4 !== 4 || headerLength < 20 || length < headerLength || length > bytes.length)
    return undefined;
  if (checksum(bytes.subarray(0, headerLength)) !== 0) return undefined;
  const place = u16(bytes, 6);
  const [offset, more] = [(place & 0x1fff) * 8, (place & 0x2000) !== 0];
  return {
    src: addressOf(bytes.subarray(12, 16)),
    dst: addressOf(bytes.subarray(16, 20)),
    protocol: bytes[9] ?? 0,
    ttl: bytes[8] ?? 0,
    payload: bytes.subarray(headerLength, length),
    datagram: bytes.subarray(0, length),
    ...(offset > 0 || more ? { fragment: { id: u16(bytes, 4), offset, more } } : {}),
  };
}

function readIp6(bytes: Uint8Array): ReceivedPacket | undefined {
  const end = 40 + u16(bytes, 4);
  if (bytes.length < 40 || (bytes[0] ?? 0) >> 4 !== 6 || end > bytes.length) return undefined;
  let [at, next] = [40, bytes[6] ?? 0];
  for (let count = 0; extensionHeaders.includes(next); count++) {
    if (count === mostExtensions || at + 8 > end) return undefined;
    [next, at] = [bytes[at] ?? 0, at + 8 + (bytes[at + 1] ?? 0) * 8];
  }
  const common = { src: addressOf(bytes.subarray(8, 24)), dst: addressOf(bytes.subarray(24, 40)), ttl: bytes[7] ?? 0 };
  const datagram = bytes.subarray(0, end);
  if (at > end) return undefined;
  if (next !== fragmentHeader) return { ...common, protocol: next, payload: bytes.subarray(at, end), datagram };
  if (at + 8 > end) return undefined;
  const place = u16(bytes, at + 2);
  const fragment = { id: u32(bytes, at + 4), offset: place & 0xfff8, more: (place & 1) !== 0 };
  return { ...common, protocol: bytes[at] ?? 0, payload: bytes.subarray(at + 8, end), datagram, fragment };
}

/** IP packets of at most `mtu` bytes that carry `packet`. One that fits must not be fragmented on its way (IPv4). */
export function writePackets(packet: Packet, mtu: number, id: number): Uint8Array[] {
  const write = isIp6(packet.dst) ? writeIp6 : writeIp4;
  const { payload } = packet;
  const room = mtu - (isIp6(packet.dst) ? 40 : 20);
  if (payload.length <= room) return [write(packet, payload, undefined, id)];
  const step = (isIp6(packet.dst) ? room - 8 : room) & ~7;
  const written: Uint8Array[] = [];
  for (let offset = 0; offset < payload.length; offset += step) {
    const more = offset + step < payload.length;
    written.push(write(packet, payload.subarray(offset, offset + step), { id, offset, more }, id));
  }
  return written;
}

function writeIp4(
  { src, dst, protocol, ttl }: Packet,
  payload: Uint8Array,
  fragment: Fragment | undefined,
  id: number,
): Uint8Array {
  const bytes = new Uint8Array(ip4HeaderBytes + payload.length);
  const place = fragment ? (fragment.more ? 0x2000 : 0) | (fragment.offset / 8) : 0x4000;
  const view = viewOf(bytes);
  bytes[0] = 0x45;
  view.setUint16(2, bytes.length);
  view.setUint16(4, id);
  view.setUint16(6, place);
  bytes[8] = ttl;
  bytes[9] = protocol;
  putAddress(bytes, 12, src);
  putAddress(bytes, 16, dst);
  view.setUint16(10, ~onesSum(view, 0, ip4HeaderBytes, 0));
  bytes.set(payload, ip4HeaderBytes);
  return bytes;
}

function writeIp6({ src, dst, protocol, ttl }: Packet, payload: Uint8Array, fragment: Fragment | undefined): Uint8Array {
  const extension = fragment ? [protocol, 0, ...be16(fragment.offset | (fragment.more ? 1 : 0)), ...be32(fragment.id)] : [];
  const bytes = new Uint8Array(40 + extension.length + payload.length);
  const next = fragment ? fragmentHeader : protocol;
  bytes.set([0x60, 0, 0, 0, ...be16(extension.length + payload.length), next, ttl, ...bytesOf(src), ...bytesOf(dst), ...extension]);
  bytes.set(payload, 40 + extension.length);
  return bytes;
}

/** An Ethernet frame. */
export function writeFrame(to: Uint8Array, from: ArrayLike<number>, type: number, payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(14 + payload.length);
  frame.set(to);
  frame.set(from, 6);
  frame[12] = type >> 8;
  frame[13] = type;
  frame.set(payload, 14);
  return frame;
}
