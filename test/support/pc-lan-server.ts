/** A router on a segment of simulated PCs, 10.0.0.254: DHCP and DNS server, router of IPv6, and routers behind it for traces. */
import { bytesOf, macBytes } from '../../src/fabric/pcs/addresses.ts';
import { type Packet, protocols, readPacket, u16, withChecksum, writeFrame, writePackets } from '../../src/fabric/pcs/packet.ts';
import { udpPacket } from '../../src/fabric/pcs/udp.ts';
import type { PcLan } from './pc-lan.ts';

const mac = macBytes('02:00:00:00:00:fe');
const own = '10.0.0.254';
const linkLocal = 'fe80::fe';
const leased = '10.0.0.77';
const options = [
  ...[54, 4, ...bytesOf(own), 51, 4, 0, 0, 14, 16, 1, 4, 255, 255, 255, 0, 3, 4, ...bytesOf(own), 6, 4, ...bytesOf(own)],
  ...[15, 8, ...Buffer.from('lab.test'), 255],
];

export function addServer(lan: PcLan): void {
  const plain = lan.send.bind(lan);
  const answer = (frame: Buffer, packet: Packet) => {
    const type = packet.src.includes(':') ? 0x86dd : 0x0800;
    for (const bytes of writePackets(packet, 1500, 1)) plain(writeFrame(frame.subarray(6, 12), mac, type, bytes));
  };
  lan.send = (frame, from) => {
    plain(frame, from);
    lan.clock.after(lan.latencyMs, () => onFrame(Buffer.from(frame)));
  };
  function onFrame(frame: Buffer): void {
    const type = frame.readUInt16BE(12);
    if (type === 0x0806 && frame[21] === 1 && frame.subarray(38, 42).equals(bytesOf(own))) {
      const payload = Uint8Array.from([
        ...frame.subarray(14, 20),
        0,
        2,
        ...mac,
        ...bytesOf(own),
        ...frame.subarray(22, 32),
        ...Array(18).fill(0),
      ]);
      plain(writeFrame(frame.subarray(6, 12), mac, 0x0806, payload));
    }
    const packet = readPacket(type, frame.subarray(14));
    if (!packet) return;
    const { src, dst, ttl, protocol, payload, datagram } = packet;
    const reply = (from: string, body: readonly number[]) =>
      answer(frame, withChecksum({ src: from, dst: src, protocol: protocols.icmp, ttl: 64, payload: Uint8Array.from(body) }, 2));
    if (protocol === protocols.icmp6) onIcmp6(frame, packet);
    else if (protocol === protocols.udp && u16(payload, 2) === 67) onDhcp(frame, payload.subarray(8));
    else if (dst === own && protocol === protocols.udp && u16(payload, 2) === 53) onDns(frame, packet);
    else if (dst === own && protocol === protocols.icmp) reply(own, [0, 0, 0, 0, ...payload.subarray(4)]);
    else if (dst.startsWith('10.9.') && ttl < 3) reply(`10.0.${ttl}.254`, [11, 0, 0, 0, 0, 0, 0, 0, ...datagram.subarray(0, 28)]);
    else if (dst === '10.9.0.1' && protocol === protocols.icmp) reply(dst, [0, 0, 0, 0, ...payload.subarray(4)]);
    else if (dst === '10.9.0.1') reply(dst, [3, 3, 0, 0, 0, 0, 0, 0, ...datagram.subarray(0, 28)]);
    else if (dst === '10.9.0.9') reply(own, [3, 13, 0, 0, 0, 0, 0, 0, ...datagram.subarray(0, 28)]);
  }
  function onIcmp6(frame: Buffer, { src, payload }: Packet): void {
    const reply = (body: readonly number[]) =>
      answer(
        frame,
        withChecksum({ src: linkLocal, dst: src, protocol: protocols.icmp6, ttl: 255, payload: Uint8Array.from(body) }, 2),
      );
    const prefix = [3, 4, 64, 0xc0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...bytesOf('2001:db8:0:5::')];
    if (payload[0] === 133) reply([134, 0, 0, 0, 64, 0, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, ...mac, ...prefix]);
    else if (payload[0] === 135 && Buffer.from(payload.subarray(8, 24)).equals(bytesOf(linkLocal)))
      reply([136, 0, 0, 0, 0x60, 0, 0, 0, ...bytesOf(linkLocal), 2, 1, ...mac]);
    else if (payload[0] === 128) reply([129, 0, 0, 0, ...payload.subarray(4)]);
  }
  function onDhcp(frame: Buffer, message: Uint8Array): void {
    const type = message[242];
    if (type !== 1 && type !== 3) return;
    const head = new Uint8Array(240);
    head.set([2, 1, 6, 0, ...message.subarray(4, 8), 0, 0, 0, 0, 0, 0, 0, 0, ...bytesOf(leased), ...bytesOf(own)]);
    head.set(message.subarray(28, 44), 28);
    head.set([0x63, 0x82, 0x53, 0x63], 236);
    const body = Uint8Array.from([...head, 53, 1, type === 1 ? 2 : 5, ...options]);
    answer(frame, udpPacket({ src: own, dst: '255.255.255.255', ttl: 64 }, 67, 68, body));
  }
  function onDns(frame: Buffer, { src, payload }: Packet): void {
    const question = payload.subarray(8);
    const isKnown = Buffer.from(question).includes('web');
    const head = [...question.subarray(0, 2), 0x81, isKnown ? 0x80 : 0x83, 0, 1, 0, isKnown ? 1 : 0, 0, 0, 0, 0];
    const record = isKnown ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...bytesOf('10.0.0.2')] : [];
    const body = Uint8Array.from([...head, ...question.subarray(12), ...record]);
    answer(frame, udpPacket({ src: own, dst: src, ttl: 64 }, 53, u16(payload, 0), body));
  }
}
