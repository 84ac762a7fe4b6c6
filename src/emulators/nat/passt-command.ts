/** The command line of passt, from plain facts. Sources of the options: README.md beside this file. */
import { network } from './network.ts';

/** Links of projects carry ordinary frames. */
const mtuBytes = 1500;

interface PasstLaunch {
  readonly socket: string;
  /** Address of the resolver on this host's side; undefined: what passt finds itself. */
  readonly resolver: string | undefined;
  readonly hostAccess: boolean;
  /** passt would become the user `nobody`, who may not enter our runtime folder. */
  readonly isRoot: boolean;
}

export function passtArguments({ socket, resolver, hostAccess, isRoot }: PasstLaunch): string[] {
  return [
    '--foreground',
    ...['--socket', socket],
    '--ipv4-only',
    ...['--address', network.firstGuest],
    ...['--netmask', String(network.bits)],
    ...['--gateway', network.gateway],
    ...['--mac-addr', network.mac],
    ...['--mtu', String(mtuBytes)],
    ...(resolver === undefined ? [] : dnsArguments(resolver)),
    ...(hostAccess ? [] : ['--no-map-gw']),
    ...(isRoot ? ['--runas', '0:0'] : []),
  ];
}

/** A guest cannot reach a resolver on our loopback: it asks its gateway, and passt passes that on to the first resolver it was given. */
function dnsArguments(resolver: string): string[] {
  if (!resolver.startsWith('127.')) return ['--dns', resolver];
  return ['--dns', resolver, '--dns', network.gateway, '--dns-forward', network.gateway];
}

/** The first IPv4 resolver of a resolv.conf(5). */
export function firstResolver(text: string): string | undefined {
  return /^\s*nameserver\s+(\d+\.\d+\.\d+\.\d+)\s*$/m.exec(text)?.[1];
}
