/** Packets of ARP and ICMP, read from the first bytes of their frames: enough to find the same packet again on other links. */
import { isIP } from 'node:net';

/** A packet, without what changes on its way: MAC addresses, VLAN tags, TTL and the header's checksum. */
export interface TracedPacket {
  /** `arp`: ARP, or neighbour discovery. */
  readonly kind: 'arp' | 'echo' | 'other';
  readonly isAnswer: boolean;
  /** Equal for equal packets. */
  readonly key: string;
  /** Addresses in hexadecimal. Of questions for a MAC address, `to` is the one in question; of their answers, `from`. */
  readonly from: string;
  readonly to: string;
  /** Identifier and number of an echo; empty for other packets. */
  readonly echo: string;
}

const tags: ReadonlySet<number> = new Set([0x8100, 0x88a8, 0x9100, 0x9200]);
const [arp, ipv4, ipv6] = [0x0806, 0x0800, 0x86dd];
const [icmp, icmp6] = [1, 58];
const ipv6HeaderBytes = 40;

/** Undefined: it is another kind of frame, or truncated within the headers. */
export function packetOf(frame: Buffer): TracedPacket | undefined {
  let at = 12;
  while (at + 2 <= frame.length && tags.has(frame.readUInt16BE(at))) at += 4;
  if (at + 2 > frame.length) return undefined;
  const [type, packet] = [frame.readUInt16BE(at), frame.subarray(at + 2)];
  if (type === arp) return arpPacket(packet);
  if (type === ipv4) return packet[9] === icmp ? ip4Packet(packet) : undefined;
  return type === ipv6 && packet[6] === icmp6 ? ip6Packet(packet) : undefined;
}

const hex = (bytes: Buffer, from: number, to: number) => bytes.toString('hex', from, to);

/** @see RFC 826 */
function arpPacket(packet: Buffer): TracedPacket | undefined {
  if (packet.length < 28) return undefined;
  const isAnswer = packet.readUInt16BE(6) === 2;
  return { kind: 'arp', isAnswer, key: `arp ${hex(packet, 0, 28)}`, from: hex(packet, 14, 18), to: hex(packet, 24, 28), echo: '' };
}

function ip4Packet(packet: Buffer): TracedPacket | undefined {
  const header = ((packet[0] ?? 0) & 0x0f) * 4;
  const message = packet.subarray(header, Math.max(header, packet.readUInt16BE(2)));
  if (header < 20 || message.length < 8) return undefined;
  const [from, to] = [hex(packet, 12, 16), hex(packet, 16, 20)];
  const key = `4 ${from} ${to} ${hex(packet, 4, 6)} ${hex(message, 0, message.length)}`;
  const [isQuestion, isAnswer] = [message[0] === 8, message[0] === 0];
  const isEcho = isQuestion || isAnswer;
  return { kind: isEcho ? 'echo' : 'other', isAnswer, key, from, to, echo: isEcho ? hex(message, 4, 8) : '' };
}

/** @see RFC 4443, RFC 4861 */
function ip6Packet(packet: Buffer): TracedPacket | undefined {
  const message = packet.subarray(ipv6HeaderBytes, ipv6HeaderBytes + packet.readUInt16BE(4));
  if (message.length < 8) return undefined;
  const [from, to] = [hex(packet, 8, 24), hex(packet, 24, 40)];
  const key = `6 ${from} ${to} ${hex(message, 0, message.length)}`;
  const [type] = message;
  const target = hex(message, 8, 24);
  if (type === 135) return { kind: 'arp', isAnswer: false, key, from, to: target, echo: '' };
  if (type === 136) return { kind: 'arp', isAnswer: true, key, from: target, to, echo: '' };
  const isEcho = type === 128 || type === 129;
  return { kind: isEcho ? 'echo' : 'other', isAnswer: type === 129, key, from, to, echo: isEcho ? hex(message, 4, 8) : '' };
}

/** The bytes of an address in hexadecimal; undefined: it is none. */
export function addressHex(text: string): string | undefined {
  const family = isIP(text);
  if (family === 4) return Buffer.from(text.split('.').map(Number)).toString('hex');
  if (family !== 6 || text.includes('%')) return undefined;
  // The URL parser writes an address in its short form, without dots.
  const short = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [head = '', tail] = short.split('::');
  const [before, after] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean)) as [string[], string[]];
  const zeros = new Array<string>(tail === undefined ? 0 : 8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join('');
}

/** The address as text; IPv6 in its short form. */
export function addressText(bytes: string): string {
  if (bytes.length === 8) return Buffer.from(bytes, 'hex').join('.');
  return new URL(`http://[${bytes.match(/.{4}/g)?.join(':') ?? '::'}]`).hostname.slice(1, -1);
}
