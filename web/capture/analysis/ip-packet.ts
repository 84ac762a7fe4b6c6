/** Where the parts of an IP packet lie in an Ethernet frame. Sources: RFC 791, RFC 8200, IEEE 802.1Q. */
import { View } from '../decode/view.ts';

export interface IpPacket {
  readonly version: 4 | 6;
  readonly from: string;
  readonly to: string;
  readonly protocol: number;
  /** TTL or hop limit. */
  readonly hops: number;
  /** Offsets in the frame: the IP header, its payload, and the end of the packet, before any padding. */
  readonly at: number;
  readonly payloadAt: number;
  readonly end: number;
  /** Whether this is a fragment but the first: its payload has no inner header. */
  readonly isLaterFragment: boolean;
}

const types = { ipv4: 0x0800, ipv6: 0x86dd } as const;
const tags: readonly number[] = [0x8100, 0x88a8, 0x9100];
/** A longer stack is no real frame. */
const mostTags = 4;
/** Hop-by-hop options, routing, destination options. Source: RFC 8200, §4. */
const extensions: readonly number[] = [0, 43, 60];
const mostExtensions = 8;
const fragmentHeader = 44;

/** Undefined: the frame holds no whole IP packet. */
export function ipPacketOf(bytes: Uint8Array): IpPacket | undefined {
  try {
    return read(new View(bytes));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Offset of the EtherType behind the VLAN tags. @throws RangeError */
export function typeOffset(view: View): number {
  let at = 12;
  for (let count = 0; count < mostTags && tags.includes(view.u16(at)); count += 1) at += 4;
  return at;
}

function read(view: View): IpPacket | undefined {
  const typeAt = typeOffset(view);
  const type = view.u16(typeAt);
  if (type === types.ipv4) return readIpv4(view, typeAt + 2);
  return type === types.ipv6 ? readIpv6(view, typeAt + 2) : undefined;
}

function readIpv4(view: View, at: number): IpPacket | undefined {
  const headerBytes = (view.u8(at) & 0x0f) * 4;
  const total = view.u16(at + 2);
  // A length of 0 comes from segmentation offload of the network card.
  const end = total === 0 ? view.end : at + total;
  if (headerBytes < 20 || end > view.end || at + headerBytes > end) return undefined;
  return {
    version: 4,
    from: view.ipv4(at + 12),
    to: view.ipv4(at + 16),
    protocol: view.u8(at + 9),
    hops: view.u8(at + 8),
    at,
    payloadAt: at + headerBytes,
    end,
    isLaterFragment: (view.u16(at + 6) & 0x1fff) > 0,
  };
}

function readIpv6(view: View, at: number): IpPacket | undefined {
  const end = at + 40 + view.u16(at + 4);
  if (end > view.end) return undefined;
  let [protocol, payloadAt, isLaterFragment] = [view.u8(at + 6), at + 40, false];
  for (let count = 0; count < mostExtensions; count += 1) {
    if (protocol !== fragmentHeader && !extensions.includes(protocol)) break;
    const isFragment = protocol === fragmentHeader;
    if (isFragment && view.u16(payloadAt + 2) >> 3 > 0) isLaterFragment = true;
    protocol = view.u8(payloadAt);
    payloadAt += isFragment ? 8 : (view.u8(payloadAt + 1) + 1) * 8;
  }
  if (payloadAt > end) return undefined;
  const [from, to] = [view.ipv6(at + 8), view.ipv6(at + 24)];
  return { version: 6, from, to, protocol, hops: view.u8(at + 7), at, payloadAt, end, isLaterFragment };
}
