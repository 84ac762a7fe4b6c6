/**
 * Decides by which host names the server may be addressed. In a DNS rebinding attack the page's `Origin` agrees with its `Host`, so
 * only the name reveals it. Addresses cannot be rebound, and no attacker controls the listed names.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { hostname } from 'node:os';

/** Whether a `Host` header names this server. */
export type IsKnownHost = (header: string | undefined) => boolean;

/** `configured`: names besides `localhost`, the machine's own, and every IP address. */
export function knownHosts(configured: readonly string[]): IsKnownHost {
  const names = new Set(['localhost', hostname(), ...configured].map(canonical));
  names.delete('');
  // Browsers always send a host name; HTTP/1.0 probes send none.
  return (header) => header === undefined || isAddress(header) || names.has(nameOf(header));
}

function isAddress(header: string): boolean {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(header)?.[1];
  return bracketed === undefined ? isIPv4(nameOf(header)) : isIPv6(bracketed);
}

function nameOf(header: string): string {
  return canonical(header.replace(/:\d*$/, ''));
}

/** Normalises a name: case and the final dot of a complete name do not matter. */
function canonical(name: string): string {
  return name.trim().toLowerCase().replace(/\.$/, '');
}
