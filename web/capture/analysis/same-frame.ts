/**
 * Whether two frames are the same one at two places of the network. Routers change the MAC addresses, VLAN tags, TTL or hop limit,
 * and the header checksum; switches change VLAN tags. All else must be equal. Frames without IP are compared from their MAC
 * addresses on.
 */
import { View } from '../decode/view.ts';
import { ipPacketOf, typeOffset } from './ip-packet.ts';

export interface FrameContent {
  /** TTL or hop limit; undefined without IP. */
  readonly hops: number | undefined;
  /** The frame without what changes on its way. */
  readonly content: Uint8Array;
}

const offsets = { ttl: 8, checksum: 10, hopLimit: 7 } as const;

/** Undefined: the frame is truncated. */
export function contentOf(bytes: Uint8Array, length: number): FrameContent | undefined {
  if (bytes.length < length) return undefined;
  const packet = ipPacketOf(bytes);
  if (packet) {
    const content = bytes.slice(packet.at, packet.end);
    if (packet.version === 4) content.fill(0, offsets.checksum, offsets.checksum + 2)[offsets.ttl] = 0;
    else content[offsets.hopLimit] = 0;
    return { hops: packet.hops, content };
  }
  return otherContent(bytes);
}

function otherContent(bytes: Uint8Array): FrameContent | undefined {
  if (bytes.length < 14) return undefined;
  const typeAt = bytes.length < 18 ? 12 : safeTypeOffset(bytes);
  const content = new Uint8Array(12 + bytes.length - typeAt);
  content.set(bytes.subarray(0, 12));
  content.set(bytes.subarray(typeAt), 12);
  return { hops: undefined, content };
}

function safeTypeOffset(bytes: Uint8Array): number {
  try {
    return typeOffset(new View(bytes));
  } catch (error) {
    if (error instanceof RangeError) return 12;
    throw error;
  }
}

/** Compares two frames. Padding at the end of frames without IP does not count. */
export function isSame(one: FrameContent, other: FrameContent): boolean {
  const [short, long] = one.content.length <= other.content.length ? [one.content, other.content] : [other.content, one.content];
  if (one.hops !== undefined && short.length !== long.length) return false;
  if ((one.hops === undefined) !== (other.hops === undefined)) return false;
  return short.every((byte, at) => byte === long[at]) && long.subarray(short.length).every((byte) => byte === 0);
}
