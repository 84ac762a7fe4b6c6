/** Ethernet II, IEEE 802.3 and the tags of IEEE 802.1Q and 802.1ad. */
import { decodeArp } from './arp.ts';
import type { Decoder, Decoding } from './decoding.ts';
import { decodeIpv4 } from './ipv4.ts';
import { decodeIpv6 } from './ipv6.ts';
import { hex, type View } from './view.ts';

/** Source: IANA, "IEEE 802 Numbers". */
const inside: Readonly<Record<number, Decoder>> = { 2048: decodeIpv4, 2054: decodeArp, 34525: decodeIpv6 };
const names: Readonly<Record<number, string>> = {
  34887: 'MPLS',
  34915: 'PPPoE',
  34916: 'PPPoE',
  34958: '802.1X',
  35020: 'LLDP',
  36864: 'Loopback',
};
const tags: readonly number[] = [0x8100, 0x88a8, 0x9100];
/** A smaller value is the length of an IEEE 802.3 frame. */
const firstType = 0x0600;

export const decodeEthernet: Decoder = (view, at, out) => {
  const [to, from] = [view.mac(at), view.mac(at + 6)];
  const type = view.u16(at + 12);
  const fields = [['Destination', to] as const, ['Source', from] as const, typeField(type)];
  out.add({ name: 'Ethernet', at, length: 14, fields }, { from, to, info: `Type 0x${hex(type)}` });
  decodeType(view, at + 12, out);
};

const typeField = (type: number) =>
  type < firstType ? (['Length', String(type)] as const) : (['Type', `0x${hex(type)}`] as const);

/** Decodes the EtherType at this offset, and its payload. */
function decodeType(view: View, at: number, out: Decoding): void {
  const type = view.u16(at);
  const next = inside[type];
  const name = names[type];
  if (tags.includes(type)) decodeTag(view, at, out);
  else if (next) next(view, at + 2, out);
  else if (type < firstType) decodeLlc(view.until(at + 2 + type), at + 2, out);
  else if (name) out.add({ name, at: at + 2, length: view.end - at - 2, fields: [] }, { info: `${view.end - at - 2} bytes` });
}

function decodeTag(view: View, at: number, out: Decoding): void {
  const tag = view.u16(at + 2);
  const vlan = tag & 0x0fff;
  const fields = [['VLAN', String(vlan)] as const, ['Priority', String(tag >> 13)] as const, typeField(view.u16(at + 4))];
  out.add({ name: 'VLAN', at, length: 4, fields }, { info: `VLAN ${vlan}` });
  decodeType(view, at + 4, out);
}

/** IEEE 802.2; only spanning tree is decoded further. */
function decodeLlc(view: View, at: number, out: Decoding): void {
  const name = view.u16(at) === 0x4242 ? 'STP' : 'LLC';
  const info = name === 'STP' ? 'Spanning tree' : `DSAP 0x${hex(view.u8(at), 2)}`;
  out.add({ name, at, length: view.end - at, fields: [['Length', String(view.end - at)]] }, { info });
}
