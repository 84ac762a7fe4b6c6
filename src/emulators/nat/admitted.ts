/**
 * Filters the frames sent to a QEMU's user network: QEMU has no option to keep guests from this host's loopback. Its user network leads
 * there by its gateway's address, 0.0.0.0, all of 127.0.0.0/8 and the broadcast address. It takes frames for any hardware address.
 */
import type { BpfInstruction } from '../../fabric/protocol.ts';
import { network } from './network.ts';

const { subnet, bits, gateway, mac, nameServer, nameServerMac } = network;

const toUs = `(ether dst ${mac} or ether dst ${nameServerMac} or ether broadcast)`;
const lease = `udp dst port 67 and (dst host 255.255.255.255 or dst host ${gateway})`;
const name = `dst host ${nameServer} and (tcp or udp) and dst port 53`;
const ping = `dst host ${gateway} and icmp`;
const inside = `dst net 0.0.0.0/8 or dst net 127.0.0.0/8 or dst net ${subnet}/${bits} or dst net 224.0.0.0/3`;

/** The expression from which `admitted` was compiled: tcpdump may be missing here, and a test compares the two. */
export const admittedExpression = `${toUs} and (arp or (ip and ((${lease}) or (${name}) or (${ping}) or not (${inside}))))`;

export const admitted: BpfInstruction[] = [
  [32, 0, 0, 2],
  [21, 1, 0, 3232266753],
  [21, 0, 2, 3232266754],
  [40, 0, 0, 0],
  [21, 3, 40, 21077],
  [21, 0, 39, 4294967295],
  [40, 0, 0, 0],
  [21, 0, 37, 65535],
  [40, 0, 0, 12],
  [21, 34, 0, 2054],
  [21, 0, 34, 2048],
  [48, 0, 0, 23],
  [21, 0, 8, 17],
  [40, 0, 0, 20],
  [69, 6, 0, 8191],
  [177, 0, 0, 14],
  [72, 0, 0, 16],
  [21, 0, 3, 67],
  [32, 0, 0, 30],
  [21, 24, 0, 4294967295],
  [21, 23, 0, 3232266753],
  [32, 0, 0, 30],
  [21, 0, 8, 3232266754],
  [48, 0, 0, 23],
  [21, 1, 0, 6],
  [21, 0, 8, 17],
  [40, 0, 0, 20],
  [69, 6, 0, 8191],
  [177, 0, 0, 14],
  [72, 0, 0, 16],
  [21, 13, 3, 53],
  [21, 0, 2, 3232266753],
  [48, 0, 0, 23],
  [21, 10, 0, 1],
  [32, 0, 0, 30],
  [69, 0, 9, 4278190080],
  [84, 0, 0, 4278190080],
  [21, 7, 0, 2130706432],
  [32, 0, 0, 30],
  [84, 0, 0, 4294967040],
  [21, 4, 0, 3232266752],
  [32, 0, 0, 30],
  [84, 0, 0, 3758096384],
  [21, 1, 0, 3758096384],
  [6, 0, 0, 262144],
  [6, 0, 0, 0],
];
