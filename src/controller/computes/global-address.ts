/** Recognizes addresses of the Internet, as opposed to those of this machine, of private networks and of special purposes. */
import { BlockList, isIP } from 'node:net';

/**
 * IANA's special-purpose registry of IPv4 (RFC 6890), multicast, and the reserved addresses above. All others are global unicast.
 */
const specialIpv4 = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  specialIpv4.addSubnet(network, bits, 'ipv4');

/** Global unicast of IPv6 (RFC 4291), without its blocks for protocols, 6to4 (which embeds an IPv4 address) and documentation. */
const globalIpv6 = new BlockList();
globalIpv6.addSubnet('2000::', 3, 'ipv6');
const specialIpv6 = new BlockList();
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  specialIpv6.addSubnet(network, bits, 'ipv6');

/** Whether a text is a global unicast address; false for other texts, and for addresses with a zone. */
export function isGlobalUnicast(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !specialIpv4.check(address, 'ipv4');
  return family === 6 && globalIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6');
}
