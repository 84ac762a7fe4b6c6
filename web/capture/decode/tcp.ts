/** RFC 9293. */
import type { Decoder } from './decoding.ts';
import { decodeDnsOverTcp } from './dns.ts';

const flagNames = ['FIN', 'SYN', 'RST', 'PSH', 'ACK', 'URG', 'ECE', 'CWR'] as const;
const dnsPort = 53;

export const decodeTcp: Decoder = (view, at, out) => {
  const [from, to] = [view.u16(at), view.u16(at + 2)];
  const [sequence, acknowledged] = [view.u32(at + 4), view.u32(at + 8)];
  const headerBytes = (view.u8(at + 12) >> 4) * 4;
  const bits = view.u8(at + 13);
  const flags = flagNames.filter((_, place) => bits & (1 << place)).join(', ');
  const length = view.end - at - headerBytes;
  out.ports.push(from, to);
  out.add(
    {
      name: 'TCP',
      at,
      length: headerBytes,
      fields: [
        ['Source port', String(from)],
        ['Destination port', String(to)],
        ['Sequence', String(sequence)],
        ['Acknowledgement', String(acknowledged)],
        ['Flags', flags],
        ['Window', String(view.u16(at + 14))],
        ['Payload', `${length} bytes`],
      ],
    },
    { info: `${from} → ${to} [${flags}] seq ${sequence}${bits & 0x10 ? `, ack ${acknowledged}` : ''}, ${length} bytes` },
  );
  if (length > 2 && (from === dnsPort || to === dnsPort)) decodeDnsOverTcp(view, at + headerBytes, out);
};
