/** Addresses of a PC as text in canonical form (RFC 5952 for IPv6, lower case with colons for MAC), and their bytes. */
import { isIPv4, isIPv6 } from 'node:net';

const [dot, zero] = [0x2e, 0x30];

export const isIp6 = (address: string) => address.includes(':');

/** The canonical form of an address that was typed; undefined when it is none. */
export function readAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  return isIPv6(text) && !text.includes('%') ? addressOf(bytesOf(text)) : undefined;
}

/** The 32 bits of a valid IPv4 address, as a number from 0. Every packet needs some: no garbage is made. */
function bitsOf(address: string): number {
  let [bits, byte] = [0, 0];
  for (let at = 0; at < address.length; at++) {
    const code = address.charCodeAt(at);
    if (code !== dot) byte = byte * 10 + code - zero;
    else [bits, byte] = [bits * 256 + byte, 0];
  }
  return bits * 256 + byte;
}

/** Writes the 4 or 16 bytes of a valid address. */
export function putAddress(bytes: Uint8Array, at: number, address: string): void {
  if (isIp6(address)) {
    bytes.set(bytesOf(address), at);
    return;
  }
  const bits = bitsOf(address);
  for (let byte = 0; byte < 4; byte++) bytes[at + byte] = bits >>> (24 - 8 * byte);
}

/** 4 or 16 bytes of a valid address. */
export function bytesOf(address: string): Uint8Array {
  if (!isIp6(address)) {
    const bytes = new Uint8Array(4);
    putAddress(bytes, 0, address);
    return bytes;
  }
  const [head = '', tail] = address.split('::');
  const words = (part: string) =>
    part === '' ? [] : part.split(':').flatMap((word) => (word.includes('.') ? wordsOfIp4(word) : [Number.parseInt(word, 16)]));
  const [first, last] = [words(head), words(tail ?? '')];
  const all = tail === undefined ? first : [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  return Uint8Array.from(all.flatMap((word) => [word >> 8, word & 0xff]));
}

function wordsOfIp4(text: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return [(a << 8) | b, (c << 8) | d];
}

/** The text of 4 or 16 bytes. */
export function addressOf(bytes: Uint8Array): string {
  if (bytes.length === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`;
  const words = Array.from({ length: 8 }, (_, at) => ((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0));
  let [best, length] = [-1, 1];
  for (let at = 0; at < 8; at++) {
    let end = at;
    while (words[end] === 0) end += 1;
    if (end - at > length) [best, length] = [at, end - at];
    at = Math.max(at, end - 1);
  }
  const hex = (part: number[]) => part.map((word) => word.toString(16)).join(':');
  return best < 0 ? hex(words) : `${hex(words.slice(0, best))}::${hex(words.slice(best + length))}`;
}

/** The 6 bytes of a MAC address in canonical form. */
export function macBytes(mac: string): Uint8Array {
  const bytes = new Uint8Array(6);
  for (let at = 0; at < 6; at++) bytes[at] = Number.parseInt(mac.slice(3 * at, 3 * at + 2), 16);
  return bytes;
}

export const macOf = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(':');

export function equalBytes(a: Uint8Array, b: ArrayLike<number>): boolean {
  return a.length === b.length && startsWith(a, b);
}

/** Whether the first bytes are these. */
export function startsWith(bytes: Uint8Array, first: ArrayLike<number>): boolean {
  for (let at = 0; at < first.length; at++) if (bytes[at] !== first[at]) return false;
  return true;
}

/** The address with all bits after `prefix` set to `bit`. */
export function withHostBits(address: string, prefix: number, bit: 0 | 1): string {
  const bytes = bytesOf(address).map((byte, at) => {
    const mask = (0xff00 >> Math.min(Math.max(prefix - at * 8, 0), 8)) & 0xff;
    return bit ? byte | (~mask & 0xff) : byte & mask;
  });
  return addressOf(bytes);
}

export function isInSubnet(address: string, of: string, prefix: number): boolean {
  if (isIp6(address) !== isIp6(of)) return false;
  if (isIp6(of)) return withHostBits(address, prefix, 0) === withHostBits(of, prefix, 0);
  return ((bitsOf(address) ^ bitsOf(of)) & maskOf(prefix)) === 0;
}

/** Whether the IPv4 address is the last of the subnet of another. */
export function isLastOf(address: string, of: string, prefix: number): boolean {
  return ((bitsOf(address) ^ (bitsOf(of) | ~maskOf(prefix))) | 0) === 0;
}

/** The bits of an IPv4 mask, as a signed number: a shift by 32 bits would be none. */
const maskOf = (prefix: number) => (prefix === 0 ? 0 : -1 << (32 - prefix));

/** `255.255.255.0` of 24. */
export const maskText = (prefix: number) => withHostBits('255.255.255.255', prefix, 0);

/** The prefix length of a contiguous mask; undefined when it is none. */
export function prefixOfMask(mask: string): number | undefined {
  return Array.from({ length: 33 }, (_, prefix) => prefix).find((prefix) => maskText(prefix) === mask);
}

/** Prefix and interface identifier (RFC 4291, appendix A) of a MAC address. */
export function eui64(prefix: string, mac: string): string {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = macBytes(mac);
  return addressOf(Uint8Array.from([...bytesOf(prefix).subarray(0, 8), a ^ 2, b, c, 0xff, 0xfe, d, e, f]));
}

/** RFC 4291, 2.5.6: fe80::/10. */
export const isLinkLocal = (address: string) => /^fe[89ab][0-9a-f]:/.test(address);
export const isLoopback = (address: string) => address === '::1' || (!isIp6(address) && address.startsWith('127.'));
/** RFC 4291, 2.7: ff00::/8. RFC 5771: 224.0.0.0/4. */
export const isMulticast = (address: string) => /^(?:ff[0-9a-f]{2}:|2(?:2[4-9]|3\d)\.)/.test(address);

/** RFC 4291, 2.7.1. */
export function solicitedNode(address: string): string {
  return addressOf(Uint8Array.from([...bytesOf('ff02::1:ff00:0').subarray(0, 13), ...bytesOf(address).subarray(13)]));
}

/** RFC 1112, 6.4 and RFC 2464, 7. */
export function multicastMac(address: string): Uint8Array {
  const bytes = bytesOf(address);
  if (bytes.length === 16) return Uint8Array.from([0x33, 0x33, ...bytes.subarray(12)]);
  return Uint8Array.from([0x01, 0x00, 0x5e, (bytes[1] ?? 0) & 0x7f, ...bytes.subarray(2)]);
}
