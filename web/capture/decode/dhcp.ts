/** RFC 2131 and the common options of RFC 2132. */
import type { Decoder } from './decoding.ts';
import { hex, type View } from './view.ts';

const optionsAt = 240;
const magicCookie = 0x63825363;
const messages = ['', 'Discover', 'Offer', 'Request', 'Decline', 'Ack', 'Nak', 'Release', 'Inform'] as const;
type Read = (view: View, at: number, length: number) => string;
const addresses: Read = (view, at, length) =>
  Array.from({ length: Math.floor(length / 4) }, (_, place) => view.ipv4(at + place * 4)).join(', ');
const text: Read = (view, at, length) => view.text(at, length);
const seconds: Read = (view, at) => `${view.u32(at)} s`;

const options: Readonly<Record<number, readonly [name: string, read: Read]>> = {
  1: ['Subnet mask', addresses],
  3: ['Router', addresses],
  6: ['DNS server', addresses],
  12: ['Host name', text],
  15: ['Domain name', text],
  26: ['MTU', (view, at) => String(view.u16(at))],
  28: ['Broadcast', addresses],
  50: ['Requested address', addresses],
  51: ['Lease time', seconds],
  54: ['Server', addresses],
  56: ['Message', text],
  58: ['Renewal time', seconds],
  59: ['Rebinding time', seconds],
  60: ['Vendor class', text],
};

export const decodeDhcp: Decoder = (view, at, out) => {
  const [client, yours, mac] = [view.ipv4(at + 12), view.ipv4(at + 16), view.mac(at + 28)];
  const transaction = `0x${hex(view.u32(at + 4), 8)}`;
  const fields: (readonly [string, string])[] = [
    ['Operation', view.u8(at) === 1 ? 'request' : 'reply'],
    ['Transaction', transaction],
    ['Client address', client],
    ['Your address', yours],
    ['Client hardware', mac],
  ];
  const found = view.u32(at + 236) === magicCookie ? readOptions(view, at + optionsAt) : { fields: [], message: undefined };
  fields.push(...found.fields);
  const address = yours === '0.0.0.0' ? '' : ` ${yours}`;
  const info = `DHCP ${found.message ?? 'message'}${address}, transaction ${transaction}`;
  out.hosts.push(yours);
  out.add({ name: 'DHCP', at, length: view.end - at, fields }, { info });
};

function readOptions(view: View, start: number) {
  const fields: (readonly [string, string])[] = [];
  let message: string | undefined;
  for (let at = start; at < view.end; ) {
    const code = view.u8(at);
    if (code === 255) break;
    if (code === 0) {
      at += 1;
      continue;
    }
    const length = view.u8(at + 1);
    const known = options[code];
    if (code === 53) {
      message = messages[view.u8(at + 2)] ?? 'message';
      fields.push(['Message type', message]);
    } else if (known) fields.push([known[0], known[1](view, at + 2, length)]);
    else fields.push([`Option ${code}`, `${length} bytes`]);
    at += 2 + length;
  }
  return { fields, message };
}
