/** UDP (RFC 768): DHCP's answers, tasks, and an echo of every other datagram, as vpcs gives it at each of its ports. */
import { isIp6, isMulticast } from './addresses.ts';
import type { PcHost } from './host.ts';
import { sendPortUnreachable } from './icmp.ts';
import { be16, type Packet, protocols, type ReceivedPacket, transportChecksum, u16, withChecksum } from './packet.ts';

const ports = { echo: 7, dhcpClient: 68, dhcp6Client: 546 };

/** Ports that were sent from lately: an answer that comes too late must not be echoed, or two PCs would echo each other for good. */
export class UsedPorts {
  #ports: number[] | undefined;

  add(port: number): void {
    this.#ports = [port, ...(this.#ports ?? []).filter((each) => each !== port)].slice(0, 16);
  }

  has(port: number): boolean {
    return this.#ports?.includes(port) ?? false;
  }

  list(): readonly number[] {
    return this.#ports ?? [];
  }
}

/** RFC 6335, 6: dynamic ports. */
export const randomPort = () => 49_152 + Math.floor(Math.random() * 16_384);

export function udpPacket(to: Omit<Packet, 'payload' | 'protocol'>, sport: number, dport: number, data: Uint8Array): Packet {
  const payload = new Uint8Array(8 + data.length);
  payload.set([...be16(sport), ...be16(dport), ...be16(payload.length)]);
  payload.set(data, 8);
  return withChecksum({ src: to.src, dst: to.dst, ttl: to.ttl, protocol: protocols.udp, payload }, 6);
}

export function receiveUdp(host: PcHost, packet: ReceivedPacket): void {
  const { src, dst, ttl } = packet;
  const length = u16(packet.payload, 4);
  if (length < 8 || length > packet.payload.length) return;
  const payload = packet.payload.subarray(0, length);
  const hasChecksum = u16(payload, 6) !== 0;
  if (hasChecksum ? transportChecksum({ src, dst, protocol: protocols.udp, payload }) !== 0 : isIp6(src)) return;
  const datagram = { ...packet, payload };
  const [sport, dport, data] = [u16(payload, 0), u16(payload, 2), payload.subarray(8)];
  if (dport === ports.dhcpClient && sport === 67 && host.dhcp.isWaiting) {
    host.dhcp.receive(data);
    return;
  }
  if (dport === ports.dhcp6Client && sport === 547) {
    host.discovery.receiveDhcp6(data);
    return;
  }
  if (host.offer(datagram)) return;
  if (!host.isOwn(dst) || isMulticast(src) || src === '0.0.0.0' || sport === ports.echo || host.usedPorts.has(dport)) return;
  // So vpcs ends a trace, whose last packet arrives with its last hop.
  if (ttl === 1) sendPortUnreachable(host, packet);
  else host.route(udpPacket({ src: dst, dst: src, ttl: 64 }, dport, sport, data));
}
