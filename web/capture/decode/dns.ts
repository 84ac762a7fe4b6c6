/** RFC 1035, and AAAA of RFC 3596. */
import type { Decoder } from './decoding.ts';
import { hex, type View } from './view.ts';

const headerBytes = 12;
/** Source: IANA, "Domain Name System (DNS) Parameters". */
const types: Readonly<Record<number, string>> = {
  1: 'A',
  2: 'NS',
  5: 'CNAME',
  6: 'SOA',
  12: 'PTR',
  15: 'MX',
  16: 'TXT',
  28: 'AAAA',
  33: 'SRV',
  41: 'OPT',
  65: 'HTTPS',
  255: 'ANY',
};
const withName: readonly number[] = [2, 5, 12];
/** Names of response codes. Source: IANA, "DNS RCODEs". */
const responseCodes: Readonly<Record<number, string>> = {
  0: 'NoError',
  1: 'FormErr',
  2: 'ServFail',
  3: 'NXDomain',
  4: 'NotImp',
  5: 'Refused',
};
/** More pointers than any name has labels: a loop. */
const mostPointers = 64;
/** The header of a message may announce 65,535 records of each type. */
const mostRecords = 64;

const typeName = (type: number) => types[type] ?? `type ${type}`;

export const decodeDns: Decoder = (view, at, out) => {
  const [id, flags] = [view.u16(at), view.u16(at + 2)];
  const isAnswer = (flags & 0x8000) !== 0;
  const responseCode = flags & 0x0f;
  const result = responseCodes[responseCode] ?? `code ${responseCode}`;
  const fields: (readonly [string, string])[] = [
    ['Identifier', `0x${hex(id)}`],
    ['Message', isAnswer ? 'answer' : 'question'],
  ];
  if (isAnswer) fields.push(['Response code', result]);
  // Added before its records are read, so that a truncated message shows its header.
  const layer = { name: 'DNS', at, length: view.end - at, fields };
  out.add(layer, { info: `${isAnswer ? 'Answer' : 'Question'} 0x${hex(id)}` });
  let place = at + headerBytes;
  for (let left = Math.min(view.u16(at + 4), mostRecords); left > 0; left -= 1) {
    const { name, next } = readName(view, place, at);
    const question = `${typeName(view.u16(next))} ${name}`;
    fields.push(['Question', question]);
    out.info += ` ${question}`;
    place = next + 4;
  }
  if (responseCode !== 0) out.info += `: ${result}`;
  for (let left = Math.min(view.u16(at + 6), mostRecords); left > 0; left -= 1) {
    const { name, next } = readName(view, place, at);
    const [type, length] = [view.u16(next), view.u16(next + 8)];
    const value = recordValue(view, { type, at: next + 10, length, message: at });
    fields.push(['Answer', `${name} ${typeName(type)} ${value}, ${view.u32(next + 4)} s`]);
    out.info += ` ${typeName(type)} ${value}`;
    place = next + 10 + length;
  }
};

/** Decodes DNS over TCP, where a length precedes the message. Of a message in several segments only the first one is decoded. */
export const decodeDnsOverTcp: Decoder = (view, at, out) => decodeDns(view.until(at + 2 + view.u16(at)), at + 2, out);

interface RecordPlace {
  readonly type: number;
  readonly at: number;
  readonly length: number;
  /** Start of the message, to which pointers in names are relative. */
  readonly message: number;
}

function recordValue(view: View, { type, at, length, message }: RecordPlace): string {
  if (type === 1) return view.ipv4(at);
  if (type === 28) return view.ipv6(at);
  if (type === 16) return `"${view.text(at + 1, view.u8(at))}"`;
  if (type === 15) return `${view.u16(at)} ${readName(view, at + 2, message).name}`;
  if (withName.includes(type)) return readName(view, at, message).name;
  return `${length} bytes`;
}

/** `next` is the offset after the name, wherever its pointers lead. */
function readName(view: View, start: number, message: number): { readonly name: string; readonly next: number } {
  const labels: string[] = [];
  let next: number | undefined;
  let at = start;
  for (let pointers = 0; pointers < mostPointers; ) {
    const length = view.u8(at);
    if (length === 0) return { name: labels.join('.') || '.', next: next ?? at + 1 };
    if ((length & 0xc0) === 0xc0) {
      next ??= at + 2;
      at = message + (view.u16(at) & 0x3fff);
      pointers += 1;
    } else {
      labels.push(view.text(at + 1, length));
      at += 1 + length;
    }
  }
  throw new RangeError('a name that points to itself');
}
