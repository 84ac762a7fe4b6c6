/**
 * The display filter: terms that must all match. `arp`, `tcp` … a protocol anywhere in the frame; `host 10.0.0.1` or the address alone;
 * `port 53`; `vlan 20`; `not` or `!` before any of them. Any other term is searched for in the text of the row.
 */
import type { Decoding } from './decode/decoding.ts';

export type Matches = (decoding: Decoding) => boolean;

const protocols: readonly string[] = [
  'ethernet',
  'arp',
  'vlan',
  'ipv4',
  'ipv6',
  'icmp',
  'icmpv6',
  'tcp',
  'udp',
  'dhcp',
  'dns',
  'stp',
  'lldp',
];
const aliases: Readonly<Record<string, readonly string[]>> = {
  ip: ['ipv4'],
  icmp: ['icmp', 'icmpv6'],
  icmp6: ['icmpv6'],
  eth: ['ethernet'],
};
const address = /^(\d{1,3}(\.\d{1,3}){3}|[\da-f]{2}(:[\da-f]{2}){5}|[\da-f]*:[\da-f:]*:[\da-f:]*)$/;

/** Undefined: all packets are shown. */
export function displayFilter(text: string): Matches | undefined {
  const words = text
    .toLowerCase()
    .trim()
    .split(/\s+/)
    .filter((word) => word !== 'and' && word !== '&&' && word !== '');
  const parts: Matches[] = [];
  let isTurned = false;
  for (let at = 0; at < words.length; at += 1) {
    let word = words[at] ?? '';
    if (word === 'not' || word === '!') {
      isTurned = !isTurned;
      continue;
    }
    if (word.startsWith('!')) {
      isTurned = !isTurned;
      word = word.slice(1);
    }
    const value = words[at + 1];
    const found = value === undefined ? undefined : withValue(word, value);
    if (found) at += 1;
    const part = found ?? alone(word);
    parts.push(isTurned ? (decoding) => !part(decoding) : part);
    isTurned = false;
  }
  return parts.length === 0 ? undefined : (decoding) => parts.every((part) => part(decoding));
}

function withValue(word: string, value: string): Matches | undefined {
  if (word === 'host' || word === 'addr') return ({ hosts }) => hosts.includes(value);
  if (word === 'port' && /^\d+$/.test(value)) return ({ ports }) => ports.includes(Number(value));
  if (word === 'vlan' && /^\d+$/.test(value))
    return ({ layers }) =>
      layers.some(({ name, fields }) => name === 'VLAN' && fields.some(([key, id]) => key === 'VLAN' && id === value));
  return undefined;
}

function alone(word: string): Matches {
  const wanted = aliases[word] ?? (protocols.includes(word) ? [word] : undefined);
  if (wanted) return ({ layers }) => layers.some(({ name }) => wanted.includes(name.toLowerCase()));
  if (address.test(word)) return ({ hosts }) => hosts.includes(word);
  return ({ source, destination, protocol, info }) => `${source} ${destination} ${protocol} ${info}`.toLowerCase().includes(word);
}
