/** The text of a frame, for `set dump`. */
import { addressOf, isIp6, macOf } from './addresses.ts';
import { describeIcmp } from './icmp.ts';
import { etherTypes, protocols, readPacket, u16, u32 } from './packet.ts';

const yellow = '\x1b[33m';
const plain = '\x1b[0m';
const flagLetters = 'FSRPAUEC';
/** Bytes of `raw`. */
const shownBytes = 256;

export function describeFrame(frame: Uint8Array, flags: readonly string[]): string {
  const [to, from, type, payload] = [macOf(frame.subarray(0, 6)), macOf(frame.subarray(6, 12)), u16(frame, 12), frame.subarray(14)];
  const parts = [
    flags.includes('mac') ? `${from} -> ${to}\n` : '',
    flags.includes('raw') ? `${hexLines(payload.subarray(0, shownBytes))}\n` : '',
    flags.includes('detail') ? (type === etherTypes.arp ? describeArp(from, to, payload) : describePacket(type, payload)) : '',
  ];
  return `\n${yellow}${parts.join('')}${plain}`;
}

function hexLines(bytes: Uint8Array): string {
  const lines = Array.from({ length: Math.ceil(bytes.length / 16) }, (_, line) => {
    const part = bytes.subarray(line * 16, line * 16 + 16);
    const words = Array.from({ length: Math.ceil(part.length / 2) }, (_, at) =>
      Buffer.from(part.subarray(at * 2, at * 2 + 2)).toString('hex'),
    );
    const letters = Array.from(part, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    return `${words.join(' ').padEnd(43)}${letters}\n`;
  });
  return lines.join('');
}

function describeArp(from: string, to: string, bytes: Uint8Array): string {
  const [sender, target] = [addressOf(bytes.subarray(14, 18)), addressOf(bytes.subarray(24, 28))];
  const isRequest = u16(bytes, 6) === 1;
  const about = isRequest ? `Who has ${target}? Tell ${sender}` : `${sender} is at ${macOf(bytes.subarray(8, 14))}`;
  const head = `ARP, OpCode: ${u16(bytes, 6)} (${isRequest ? 'Request' : 'Reply'})${sender === target ? '    Gratuitous ARP' : ''}`;
  return `${head}\nEther Address: ${from} -> ${to === 'ff:ff:ff:ff:ff:ff' ? 'Broadcast' : to}\n${about}\n`;
}

function describePacket(type: number, bytes: Uint8Array): string {
  const packet = readPacket(type, bytes);
  if (!packet) return '';
  const { src, dst, ttl, protocol, payload } = packet;
  const hex = (at: number) => u16(bytes, at).toString(16).padStart(4, '0');
  const marks =
    (u16(bytes, 6) & 0x4000 ? ', DF' : '') +
    (packet.fragment ? `, offset: ${packet.fragment.offset}${packet.fragment.more ? ', MF' : ''}` : '');
  const head = isIp6(src)
    ? `IPv6, flowid: ${u32(bytes, 0) & 0xfffff}, length: ${u16(bytes, 4)}, ttl: ${ttl}`
    : `IPv4, id: ${u16(bytes, 4).toString(16)}, length: ${u16(bytes, 2)}, ttl: ${ttl}, sum: ${hex(10)}${marks}`;
  return `${head}\nAddress: ${src} -> ${dst}\n${(packet.fragment?.offset ?? 0) > 0 ? '' : describePayload(protocol, payload)}`;
}

function describePayload(protocol: number, payload: Uint8Array): string {
  const hex = (at: number, bytes: number) => Buffer.from(payload.subarray(at, at + bytes)).toString('hex');
  const ports = `Port: ${u16(payload, 0)} -> ${u16(payload, 2)}\n`;
  if (protocol === protocols.udp) return `Proto: udp, len: ${u16(payload, 4)}, sum: ${hex(6, 2)}\n${ports}`;
  if (protocol === protocols.tcp) {
    const flags = Array.from(flagLetters, (letter, bit) => ((payload[13] ?? 0) & (1 << bit) ? letter : '')).join('');
    return `Proto: tcp, sum: ${hex(16, 2)}, ack: ${hex(8, 4)}, seq: ${hex(4, 4)}, flags: ${flags}\n${ports}`;
  }
  const [type = 0, code = 0] = payload;
  if (protocol !== protocols.icmp && protocol !== protocols.icmp6) return `Proto: ${protocol}\n`;
  return `Proto: icmp, type: ${type}, code: ${code}\nDesc: ${describeIcmp(protocol, type, code)}\n`;
}
