/** Recognizes addresses of this machine and of private networks. */
import { BlockList, isIP, isIPv6 } from 'node:net';

const privateNetworks = new BlockList();
for (const [network, bits] of [
  ['127.0.0.0', 8],
  // RFC 1918, RFC 3927.
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const)
  privateNetworks.addSubnet(network, bits, 'ipv4');
privateNetworks.addAddress('::1', 'ipv6');
// RFC 4193, RFC 4291.
privateNetworks.addSubnet('fc00::', 7, 'ipv6');
privateNetworks.addSubnet('fe80::', 10, 'ipv6');

export function isPrivate(address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  return isIP(plain) !== 0 && privateNetworks.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
}
