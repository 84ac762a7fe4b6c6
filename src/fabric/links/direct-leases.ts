/**
 * Sends the answers of a DHCP server to the machine that they are for. QEMU's user network sends them to everybody, and VPCS takes only
 * those that are addressed to itself. A server may do either (RFC 2131 §4.1); the IP addresses stay as they are, so no sum changes.
 */
import type { NamedFilter } from '../filters/filter.ts';
import type { PortSpec } from '../protocol.ts';

const addressBytes = 6;
const etherHeaderBytes = 14;
const ipv4 = 0x0800;
const udp = 17;
const udpHeaderBytes = 8;
const serverPort = 67;
const clientPort = 68;
/** Fields of the DHCP answer: the client's kind of address, and its address. Source: RFC 951 §3. */
const ethernet = 0x0106;
const addressTypeAt = 1;
const clientAddressAt = 28;
const isGroup = 1;

export function directLeases(source: PortSpec): NamedFilter[] {
  return source.type === 'stream' && source.directsLeases ? [{ type: 'lease', filter: { pass: address } }] : [];
}

function address(buffer: Buffer, start: number, end: number): boolean {
  // Nearly all frames go to one machine, and end here.
  if (((buffer[start] as number) & isGroup) === 0 || end - start < etherHeaderBytes + 1) return true;
  const ip = start + etherHeaderBytes;
  const transport = ip + ((buffer[ip] as number) & 0x0f) * 4;
  const answer = transport + udpHeaderBytes;
  const client = answer + clientAddressAt;
  if (end < client + addressBytes || buffer.readUInt16BE(ip - 2) !== ipv4 || buffer[ip + 9] !== udp) return true;
  if (buffer.readUInt16BE(transport) !== serverPort || buffer.readUInt16BE(transport + 2) !== clientPort) return true;
  const isMachine = buffer.readUInt16BE(answer + addressTypeAt) === ethernet && ((buffer[client] as number) & isGroup) === 0;
  if (isMachine) buffer.copyWithin(start, client, client + addressBytes);
  return true;
}
