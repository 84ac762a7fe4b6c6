/** RFC 768. The ports determine the payload's protocol. */
import type { Decoder } from './decoding.ts';
import { decodeDhcp } from './dhcp.ts';
import { decodeDns } from './dns.ts';

const headerBytes = 8;
/** DNS, multicast DNS, and DHCP. Source: IANA, "Service Name and Transport Protocol Port Number Registry". */
const byPort: Readonly<Record<number, Decoder>> = { 53: decodeDns, 5353: decodeDns, 67: decodeDhcp, 68: decodeDhcp };

export const decodeUdp: Decoder = (view, at, out) => {
  const [from, to] = [view.u16(at), view.u16(at + 2)];
  const length = view.u16(at + 4);
  out.ports.push(from, to);
  out.add(
    {
      name: 'UDP',
      at,
      length: headerBytes,
      fields: [
        ['Source port', String(from)],
        ['Destination port', String(to)],
        ['Length', String(length)],
      ],
    },
    { info: `${from} → ${to}, ${Math.max(0, length - headerBytes)} bytes` },
  );
  const inside = byPort[to] ?? byPort[from];
  if (inside && length > headerBytes) inside(view.until(at + length), at + headerBytes, out);
};
