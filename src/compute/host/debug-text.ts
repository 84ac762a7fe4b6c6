/** Describes this host for a person who diagnoses it, as plain text. */
import { readFile } from 'node:fs/promises';
import { arch, cpus, freemem, networkInterfaces, release, totalmem, type } from 'node:os';
import type { Ports } from './ports.ts';

export async function debugText(version: string, ports: Ports): Promise<string> {
  const [tcp, udp] = await Promise.all([boundPorts('tcp'), boundPorts('udp')]);
  const times = cpus().map(({ times: { user, sys, idle } }, index) => `  cpu${index}: user ${user}, system ${sys}, idle ${idle}`);
  const addresses = Object.entries(networkInterfaces()).map(
    ([name, all]) => `  ${name}: ${(all ?? []).map(({ address }) => address).join(', ')}`,
  );
  const stateOf = (port: number, bound: ReadonlySet<number> | undefined) =>
    `  ${port}: ${bound === undefined ? 'unknown' : bound.has(port) ? 'bound' : 'not bound'}`;
  return [
    `Version: ${version}`,
    `System: ${type()} ${release()} ${arch()}, Node ${process.version}`,
    `Memory, bytes: ${totalmem()} in all, ${freemem()} free`,
    'Processor times, ms:',
    ...times,
    'Network interfaces:',
    ...addresses,
    'TCP ports that are taken:',
    ...ports.tcp.taken().map((port) => stateOf(port, tcp)),
    'UDP ports that are taken:',
    ...ports.udp.taken().map((port) => stateOf(port, udp)),
    '',
  ].join('\n');
}

/**
 * Ports to which a socket of this host is bound; undefined where the system does not report them.
 * @see proc(5), /proc/net/tcp: the second column is address and port, hexadecimal
 */
async function boundPorts(protocol: 'tcp' | 'udp'): Promise<ReadonlySet<number> | undefined> {
  const files = [protocol, `${protocol}6`].map((name) => `/proc/net/${name}`);
  const tables = await Promise.all(files.map((file) => readFile(file, 'latin1').catch(() => '')));
  if (tables.every((table) => table === '')) return undefined;
  const lines = tables.flatMap((table) => table.split('\n').slice(1));
  return new Set(lines.map((line) => Number.parseInt(line.trim().split(/\s+/)[1]?.split(':')[1] ?? '', 16)));
}
