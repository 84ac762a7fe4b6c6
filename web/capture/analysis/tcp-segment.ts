/** The TCP segment of a frame. Source: RFC 9293, §3.1. */
import { View } from '../decode/view.ts';
import { ipPacketOf } from './ip-packet.ts';

export interface TcpSegment {
  /** `address:port`, of an IPv6 address in brackets. */
  readonly from: string;
  readonly to: string;
  /** Sequence number of the first byte of data; a SYN counts as a byte before it. */
  readonly sequence: number;
  readonly isSyn: boolean;
  readonly isAck: boolean;
  readonly data: Uint8Array;
}

const tcp = 6;
const flags = { syn: 0x02, ack: 0x10 } as const;

/** Undefined: the frame holds no whole segment. */
export function tcpSegmentOf(bytes: Uint8Array): TcpSegment | undefined {
  const packet = ipPacketOf(bytes);
  if (packet?.protocol !== tcp || packet.isLaterFragment || packet.end - packet.payloadAt < 20) return undefined;
  const view = new View(bytes);
  const at = packet.payloadAt;
  const dataAt = at + (view.u8(at + 12) >> 4) * 4;
  if (dataAt < at + 20 || dataAt > packet.end) return undefined;
  const bits = view.u8(at + 13);
  const isSyn = (bits & flags.syn) !== 0;
  const place = (address: string, port: number) => (packet.version === 6 ? `[${address}]:${port}` : `${address}:${port}`);
  return {
    from: place(packet.from, view.u16(at)),
    to: place(packet.to, view.u16(at + 2)),
    sequence: (view.u32(at + 4) + (isSyn ? 1 : 0)) >>> 0,
    isSyn,
    isAck: (bits & flags.ack) !== 0,
    data: bytes.subarray(dataAt, packet.end),
  };
}
