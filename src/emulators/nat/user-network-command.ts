/** The command line of a QEMU that is nothing but its user network. Sources of the options: README.md beside this file. */
import { network } from './network.ts';

/** The kernel refuses system calls that the program never needs, should a guest find a hole in it. */
const sandbox = ['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'];
const noMachine = ['-machine', 'none', '-nodefaults', '-display', 'none'];

export function userNetworkArguments(socket: string): string[] {
  const { subnet, bits, gateway, nameServer, firstGuest } = network;
  return [
    ...sandbox,
    ...noMachine,
    ...['-netdev', `user,id=user,ipv6=off,net=${subnet}/${bits},host=${gateway},dns=${nameServer},dhcpstart=${firstGuest}`],
    // A comma in an option string is doubled.
    ...['-netdev', `stream,id=fabric,server=on,addr.type=unix,addr.path=${socket.replaceAll(',', ',,')}`],
    ...['-netdev', 'hubport,id=port0,hubid=0,netdev=user'],
    ...['-netdev', 'hubport,id=port1,hubid=0,netdev=fabric'],
  ];
}

/** Prints what `listsUserNetwork` looks at. */
export const listBackends = [...sandbox, ...noMachine, '-netdev', 'help'];

/** Built without libslirp there is no `user`, before 7.2 there is no `stream`. */
export function listsUserNetwork(backends: string): boolean {
  const names = backends.split('\n').map((line) => line.trim());
  return names.includes('user') && names.includes('stream');
}
