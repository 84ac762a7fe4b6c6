/** Frames of traffic stations: ARP, and numbered UDP datagrams. Each is written with its length in front, as frames lie in memory. */
import { headerBytes, putFrameLength } from '../frames.ts';

const etherBytes = 14;
const arpBytes = 28;
const ipBytes = 20;
const udpBytes = 8;
const types = { ip: 0x0800, arp: 0x0806 } as const;
const udpProtocol = 17;
/** IANA: discard. */
const trafficPort = 9;
/** Says that a datagram is one of ours. */
const magic = 0x50544346;
const markBytes = 12;
/** Least length of an Ethernet frame, without checksum. */
export const smallestFrame = 60;

export interface StationAddress {
  readonly mac: Buffer;
  readonly ip: Buffer;
}

interface ArpFrame {
  readonly isRequest: boolean;
  readonly senderMac: Buffer;
  readonly senderIp: Buffer;
  readonly targetIp: Buffer;
}

/** RFC 826. `to`: undefined asks all stations. */
export function arpFrame(from: StationAddress, ip: Buffer, to?: Buffer): Buffer {
  const frame = newFrame(smallestFrame);
  writeEther(frame, to ?? Buffer.alloc(6, 0xff), from.mac, types.arp);
  const at = headerBytes + etherBytes;
  frame.writeUInt16BE(1, at);
  frame.writeUInt16BE(types.ip, at + 2);
  frame.writeUInt16BE(0x0604, at + 4);
  frame.writeUInt16BE(to ? 2 : 1, at + 6);
  from.mac.copy(frame, at + 8);
  from.ip.copy(frame, at + 14);
  to?.copy(frame, at + 18);
  ip.copy(frame, at + 24);
  return frame;
}

/** Undefined: it is something else. */
export function readArp(frame: Buffer): ArpFrame | undefined {
  if (frame.length < etherBytes + arpBytes || frame.readUInt16BE(12) !== types.arp) return undefined;
  const arp = frame.subarray(etherBytes);
  const operation = arp.readUInt16BE(6);
  if (operation !== 1 && operation !== 2) return undefined;
  return {
    isRequest: operation === 1,
    senderMac: Buffer.from(arp.subarray(8, 14)),
    senderIp: Buffer.from(arp.subarray(14, 18)),
    targetIp: Buffer.from(arp.subarray(24, 28)),
  };
}

interface DatagramSpec {
  readonly from: StationAddress;
  readonly toMac: Buffer;
  readonly toIp: Buffer;
  /** Distinguishes flows between the same stations. */
  readonly flow: number;
  readonly sequence: number;
  /** Length of the frame, with its Ethernet header. */
  readonly size: number;
}

/** RFC 791, RFC 768: UDP without a checksum, which IPv4 allows. */
export function datagramFrame({ from, toMac, toIp, flow, sequence, size }: DatagramSpec): Buffer {
  const frame = newFrame(size);
  writeEther(frame, toMac, from.mac, types.ip);
  const ip = headerBytes + etherBytes;
  frame[ip] = 0x45;
  frame.writeUInt16BE(size - etherBytes, ip + 2);
  frame.writeUInt16BE(sequence & 0xffff, ip + 4);
  frame[ip + 8] = 64;
  frame[ip + 9] = udpProtocol;
  from.ip.copy(frame, ip + 12);
  toIp.copy(frame, ip + 16);
  frame.writeUInt16BE(headerChecksum(frame.subarray(ip, ip + ipBytes)), ip + 10);
  const udp = ip + ipBytes;
  frame.writeUInt16BE(trafficPort, udp);
  frame.writeUInt16BE(trafficPort, udp + 2);
  frame.writeUInt16BE(size - etherBytes - ipBytes, udp + 4);
  frame.writeUInt32BE(magic, udp + udpBytes);
  frame.writeUInt32BE(flow, udp + udpBytes + 4);
  frame.writeUInt32BE(sequence, udp + udpBytes + 8);
  return frame;
}

/** Undefined: it is something else. */
export function readDatagram(frame: Buffer): { flow: number; sequence: number } | undefined {
  const udp = etherBytes + ipBytes;
  if (frame.length < udp + udpBytes + markBytes || frame.readUInt16BE(12) !== types.ip) return undefined;
  if (frame[etherBytes] !== 0x45 || frame[etherBytes + 9] !== udpProtocol) return undefined;
  if (frame.readUInt32BE(udp + udpBytes) !== magic) return undefined;
  return { flow: frame.readUInt32BE(udp + udpBytes + 4), sequence: frame.readUInt32BE(udp + udpBytes + 8) };
}

function newFrame(size: number): Buffer {
  const frame = Buffer.alloc(headerBytes + size);
  putFrameLength(frame, 0, size);
  return frame;
}

function writeEther(frame: Buffer, to: Buffer, from: Buffer, type: number): void {
  to.copy(frame, headerBytes);
  from.copy(frame, headerBytes + 6);
  frame.writeUInt16BE(type, headerBytes + 12);
}

/** RFC 1071. */
function headerChecksum(header: Buffer): number {
  let sum = 0;
  for (let at = 0; at < header.length; at += 2) sum += header.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
