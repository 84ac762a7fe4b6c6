/** ICMP (RFC 792) and ICMPv6 (RFC 4443): answers to echo requests, and errors as values. */

import { isIp6, isMulticast } from './addresses.ts';
import type { PcHost } from './host.ts';
import {
  be32,
  etherTypes,
  type Packet,
  protocols,
  type ReceivedPacket,
  readPacket,
  transportChecksum,
  u16,
  u32,
  viewOf,
  withChecksum,
} from './packet.ts';

export interface IcmpError {
  readonly from: string;
  readonly ttl: number;
  readonly type: number;
  readonly code: number;
  readonly text: string;
  /** The packet that caused it, at least 8 bytes of its payload. */
  readonly about: Packet;
}

/** Fits in every path: 576 bytes less headers (RFC 1122, 3.2.2), 1280 less headers (RFC 4443, 2.4). */
const quotedBytes = { ip4: 548, ip6: 1232 };
export const icmpTypes = { unreachable: 3, echo: 8, reply: 0, expired: 11, parameter: 12 } as const;
export const icmp6Types = { unreachable: 1, tooBig: 2, expired: 3, parameter: 4, echo: 128, reply: 129 } as const;

const texts: Readonly<Record<number, readonly string[]>> = {
  [icmpTypes.unreachable]: [
    'Destination network unreachable',
    'Destination host unreachable',
    'Destination protocol unreachable',
    'Destination port unreachable',
    'Fragmentation required, and DF flag set',
    'Source route failed',
    'Destination network unknown',
    'Destination host unknown',
    'Source host isolated',
    'Network administratively prohibited',
    'PcHost administratively prohibited',
    'Network unreachable for TOS',
    'PcHost unreachable for TOS',
    'Communication administratively prohibited',
    'PcHost precedence violation',
    'Precedence cutoff in effect',
  ],
  [icmpTypes.expired]: ['TTL expired in transit', 'Fragment reassembly time exceeded'],
  [icmpTypes.parameter]: ['Pointer indicates the error', 'Missing a required option', 'Bad length'],
};
const texts6: Readonly<Record<number, readonly string[]>> = {
  [icmp6Types.unreachable]: [
    'No route to destination',
    'Communication with destination administratively prohibited',
    'Beyond scope of source address',
    'Address unreachable',
    'Port unreachable',
    'Source address failed ingress/egress policy',
    'Reject route to destination',
  ],
  [icmp6Types.tooBig]: ['Packet too big'],
  [icmp6Types.expired]: ['Hop limit exceeded in transit', 'Fragment reassembly time exceeded'],
  [icmp6Types.parameter]: ['Erroneous header field', 'Unrecognized Next Header type', 'Unrecognized IPv6 option'],
};

export function receiveIcmp(host: PcHost, packet: ReceivedPacket): void {
  const is6 = isIp6(packet.src);
  if (packet.payload.length < 8 || packet.protocol !== (is6 ? protocols.icmp6 : protocols.icmp)) return;
  if (transportChecksum(packet) !== 0) return;
  const type = packet.payload[0] ?? 0;
  if (type === (is6 ? icmp6Types.echo : icmpTypes.echo)) answerEcho(host, packet);
  else if (is6 && type >= 133 && type <= 136) host.discovery.receive(packet);
  else if ((is6 ? texts6 : texts)[type]) receiveError(host, packet);
  else host.offer(packet);
}

/** An echo request; `size` bytes of data. */
export function echoPacket(dst: string, src: string, ttl: number, echo: { id: number; sequence: number; size: number }): Packet {
  const protocol = isIp6(dst) ? protocols.icmp6 : protocols.icmp;
  const payload = new Uint8Array(8 + echo.size);
  for (let at = 8; at < payload.length; at++) payload[at] = at;
  payload[0] = isIp6(dst) ? icmp6Types.echo : icmpTypes.echo;
  const view = viewOf(payload);
  view.setUint16(4, echo.id);
  view.setUint16(6, echo.sequence);
  return withChecksum({ src, dst, protocol, ttl, payload }, 2);
}

function answerEcho(host: PcHost, { src, dst, protocol, payload }: ReceivedPacket): void {
  const own = host.isOwn(dst) ? dst : host.sourceFor(src);
  if (own === undefined || isMulticast(src) || !host.isOwn(dst)) return;
  const answer = new Uint8Array(payload);
  answer[0] = isIp6(src) ? icmp6Types.reply : icmpTypes.reply;
  host.route(withChecksum({ src: own, dst: src, protocol, ttl: 64, payload: answer }, 2));
}

function receiveError(host: PcHost, packet: ReceivedPacket): void {
  const { src: from, ttl, payload } = packet;
  const [type = 0, code = 0] = payload;
  const is6 = isIp6(from);
  const about = readQuoted(is6 ? etherTypes.ip6 : etherTypes.ip4, payload.subarray(8));
  if (!about || !host.isOwn(about.src)) return;
  const text = (is6 ? texts6 : texts)[type]?.[code] ?? 'Unknown';
  if (is6 ? type === icmp6Types.tooBig : type === icmpTypes.unreachable && code === 4) {
    const mtu = is6 ? u32(payload, 4) : u16(payload, 6);
    if (mtu > 0 && mtu < host.mtuFor(about.dst)) host.pathMtus.learn(about.dst, mtu);
  }
  host.onIcmpError({ from, ttl, type, code, text, about });
}

/** A packet that a router has quoted is cut off: its lengths are made to fit. */
function readQuoted(type: number, bytes: Uint8Array): Packet | undefined {
  const copy = new Uint8Array(bytes);
  if (copy.length < (type === etherTypes.ip4 ? 28 : 48)) return undefined;
  const view = viewOf(copy);
  if (type === etherTypes.ip6) {
    view.setUint16(4, Math.min(view.getUint16(4), copy.length - 40));
    return readPacket(type, copy);
  }
  view.setUint16(2, Math.min(view.getUint16(2), copy.length));
  const header = Math.min(((copy[0] ?? 0) & 15) * 4, copy.length);
  // The checksum was right for other fields: routers have changed the TTL, and now the length has changed.
  view.setUint16(10, 0);
  let sum = 0;
  for (let at = 0; at + 1 < header; at += 2) sum += view.getUint16(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  view.setUint16(10, ~sum & 0xffff);
  return readPacket(type, copy);
}

/** Tells the sender of `packet` that nothing takes it. */
export function sendPortUnreachable(host: PcHost, packet: ReceivedPacket): void {
  if (!host.isOwn(packet.dst) || isMulticast(packet.src)) return;
  const is6 = isIp6(packet.src);
  const quoted = packet.datagram.subarray(0, is6 ? quotedBytes.ip6 : quotedBytes.ip4);
  const head = is6 ? [icmp6Types.unreachable, 4] : [icmpTypes.unreachable, 3];
  const payload = Uint8Array.from([...head, 0, 0, ...be32(0), ...quoted]);
  const protocol = is6 ? protocols.icmp6 : protocols.icmp;
  host.route(withChecksum({ src: packet.dst, dst: packet.src, protocol, ttl: 64, payload }, 2));
}

const names: Readonly<Record<number, string>> = { 0: 'Echo reply', 5: 'Redirect', 8: 'Echo' };
const names6: Readonly<Record<number, string>> = {
  ...{
    128: 'ICMPv6 echo request',
    129: 'ICMPv6 echo reply',
    133: 'ICMPv6 router solicitation',
    134: 'ICMPv6 router advertisement',
  },
  ...{ 135: 'ICMPv6 neighbor solicitation', 136: 'ICMPv6 neighbor advertisement' },
};

/** The name of a message, for `set dump detail`. */
export function describeIcmp(protocol: number, type: number, code: number): string {
  if (protocol === protocols.icmp) return texts[type]?.[code] ?? names[type] ?? 'Unknown';
  return texts6[type]?.[code] ?? names6[type] ?? 'Unknown';
}
