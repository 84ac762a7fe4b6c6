/** RFC 792, RFC 4443 and neighbour discovery of RFC 4861. */
import type { Decoder } from './decoding.ts';
import { hex, type View } from './view.ts';

/** Source: IANA, "ICMP Parameters". */
const types4: Readonly<Record<number, string>> = {
  0: 'Echo reply',
  3: 'Destination unreachable',
  4: 'Source quench',
  5: 'Redirect',
  8: 'Echo request',
  9: 'Router advertisement',
  10: 'Router solicitation',
  11: 'Time exceeded',
  12: 'Parameter problem',
  13: 'Timestamp request',
  14: 'Timestamp reply',
};
const unreachable: Readonly<Record<number, string>> = {
  0: 'network',
  1: 'host',
  2: 'protocol',
  3: 'port',
  4: 'too long and must not be fragmented',
  13: 'prohibited',
};
/** Source: IANA, "ICMPv6 Parameters". */
const types6: Readonly<Record<number, string>> = {
  1: 'Destination unreachable',
  2: 'Packet too big',
  3: 'Time exceeded',
  4: 'Parameter problem',
  128: 'Echo request',
  129: 'Echo reply',
  130: 'Multicast listener query',
  131: 'Multicast listener report',
  132: 'Multicast listener done',
  133: 'Router solicitation',
  134: 'Router advertisement',
  135: 'Neighbour solicitation',
  136: 'Neighbour advertisement',
  137: 'Redirect',
  143: 'Multicast listener report',
};
const echoes4: readonly number[] = [0, 8];
const echoes6: readonly number[] = [128, 129];
const withTarget6: readonly number[] = [135, 136];

export const decodeIcmp: Decoder = (view, at, out) => {
  const { fields, info } = common(view, at, types4, echoes4);
  const code = view.u8(at + 1);
  const why = view.u8(at) === 3 ? unreachable[code] : undefined;
  out.add({ name: 'ICMP', at, length: view.end - at, fields }, { info: why ? `${info}: ${why}` : info });
};

export const decodeIcmpv6: Decoder = (view, at, out) => {
  const { fields, info } = common(view, at, types6, echoes6);
  const target = withTarget6.includes(view.u8(at)) ? view.ipv6(at + 8) : undefined;
  if (target) {
    fields.push(['Target', target]);
    out.hosts.push(target);
  }
  out.add({ name: 'ICMPv6', at, length: view.end - at, fields }, { info: target ? `${info} for ${target}` : info });
};

function common(view: View, at: number, types: Readonly<Record<number, string>>, echoes: readonly number[]) {
  const [type, code] = [view.u8(at), view.u8(at + 1)];
  const name = types[type] ?? `Type ${type}`;
  const fields: (readonly [string, string])[] = [
    ['Type', `${type} (${name})`],
    ['Code', String(code)],
    ['Checksum', `0x${hex(view.u16(at + 2))}`],
  ];
  if (!echoes.includes(type)) return { fields, info: name };
  const [id, sequence] = [view.u16(at + 4), view.u16(at + 6)];
  fields.push(['Identifier', `0x${hex(id)}`], ['Sequence', String(sequence)]);
  return { fields, info: `${name}, id 0x${hex(id)}, seq ${sequence}` };
}
