/** RFC 791. */
import type { Decoder } from './decoding.ts';
import { decodeTransport, protocolName } from './transport.ts';
import { hex } from './view.ts';

export const decodeIpv4: Decoder = (view, at, out) => {
  const headerBytes = (view.u8(at) & 0x0f) * 4;
  const total = view.u16(at + 2);
  const fragment = view.u16(at + 6);
  const offset = (fragment & 0x1fff) * 8;
  const more = (fragment & 0x2000) !== 0;
  const protocol = view.u8(at + 9);
  const [from, to] = [view.ipv4(at + 12), view.ipv4(at + 16)];
  out.add(
    {
      name: 'IPv4',
      at,
      length: headerBytes,
      fields: [
        ['Source', from],
        ['Destination', to],
        ['Protocol', protocolName(protocol)],
        ['Time to live', String(view.u8(at + 8))],
        ['Length', String(total)],
        ['Identification', `0x${hex(view.u16(at + 4))}`],
        ['DSCP', String(view.u8(at + 1) >> 2)],
        ['Fragment', `offset ${offset}${more ? ', more follow' : ''}${fragment & 0x4000 ? ', do not fragment' : ''}`],
      ],
    },
    { from, to, info: `${protocolName(protocol)}, ${total} bytes` },
  );
  // Only the first fragment has the inner header. A length of 0 comes from segmentation offload of the network card.
  if (offset > 0) out.info = `Fragment at ${offset}, ${protocolName(protocol)}`;
  else decodeTransport(protocol)(total >= headerBytes ? view.until(at + total) : view, at + headerBytes, out);
};
