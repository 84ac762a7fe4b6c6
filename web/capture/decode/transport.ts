/** Payloads of IPv4 and IPv6. Source: IANA, "Assigned Internet Protocol Numbers". */
import type { Decoder } from './decoding.ts';
import { decodeIcmp, decodeIcmpv6 } from './icmp.ts';
import { decodeTcp } from './tcp.ts';
import { decodeUdp } from './udp.ts';

const decoders: Readonly<Record<number, Decoder>> = { 1: decodeIcmp, 6: decodeTcp, 17: decodeUdp, 58: decodeIcmpv6 };
const names: Readonly<Record<number, string>> = {
  1: 'ICMP',
  2: 'IGMP',
  4: 'IP in IP',
  6: 'TCP',
  17: 'UDP',
  41: 'IPv6',
  47: 'GRE',
  50: 'ESP',
  51: 'AH',
  58: 'ICMPv6',
  88: 'EIGRP',
  89: 'OSPF',
  103: 'PIM',
  112: 'VRRP',
  132: 'SCTP',
};

export const protocolName = (protocol: number): string => names[protocol] ?? `protocol ${protocol}`;

export function decodeTransport(protocol: number): Decoder {
  return (
    decoders[protocol] ??
    ((view, at, out) => {
      const length = Math.max(0, view.end - at);
      out.add({ name: protocolName(protocol), at, length, fields: [['Length', String(length)]] }, { info: `${length} bytes` });
    })
  );
}
