/** RFC 8200, with its extension headers. */
import type { Decoder } from './decoding.ts';
import { decodeTransport, protocolName } from './transport.ts';

const headerBytes = 40;
/** Hop-by-hop, routing, destination options: each has the type of the next header and its own length. */
const extensions: readonly number[] = [0, 43, 60];
const fragmentHeader = 44;

export const decodeIpv6: Decoder = (view, at, out) => {
  const payload = view.u16(at + 4);
  const [from, to] = [view.ipv6(at + 8), view.ipv6(at + 24)];
  const inner = view.until(payload > 0 ? at + headerBytes + payload : view.end);
  let next = view.u8(at + 6);
  const fields: (readonly [string, string])[] = [
    ['Source', from],
    ['Destination', to],
    ['Hop limit', String(view.u8(at + 7))],
    ['Payload length', String(payload)],
    ['Traffic class', String((view.u16(at) >> 4) & 0xff)],
    ['Flow label', String(view.u32(at) & 0xfffff)],
  ];
  let place = at + headerBytes;
  const layer = { name: 'IPv6', at, length: headerBytes, fields };
  out.add(layer, { from, to, info: `${protocolName(next)}, ${payload} bytes` });
  while (extensions.includes(next)) {
    next = inner.u8(place);
    place += (inner.u8(place + 1) + 1) * 8;
  }
  let offset = 0;
  if (next === fragmentHeader) {
    next = inner.u8(place);
    offset = inner.u16(place + 2) & 0xfff8;
    place += 8;
  }
  fields.push(['Inside', protocolName(next)]);
  if (offset > 0) out.info = `Fragment at ${offset}, ${protocolName(next)}`;
  else decodeTransport(next)(inner, place, out);
};
