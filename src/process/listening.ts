/** Children that listen on a TCP port or a Unix socket and give no other sign of being ready. */
import { readFileSync, readlinkSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Child, Outcome } from './child.ts';
import { connectSocket } from './unix-socket.ts';

/** Interval of the first looks, milliseconds; it grows by a part of the time that has passed, as a busy machine takes longer; and the limit. */
const lookMs = 10;
const slowing = 8;
const startLimitMs = 10_000;

type Listening = 'listening' | 'timeout' | Outcome;

/** Waits until the child listens on this port, or on a socket at this path as it sees it; its outcome if it ends before, `timeout` if it does neither. */
export function whenListening(child: Child, at: number | string): Promise<Listening> {
  return whenHolds(child, () => listens(child.pid, at));
}

/** Waits for the first TCP socket of a child that is alone in a network namespace of its own; otherwise as `whenListening`. Linux only. */
export function whenListeningInside(child: Child): Promise<Listening> {
  return whenHolds(child, async () => hasOwnNetwork(child.pid) && hasTcpSocket(child.pid));
}

/** Whether a process in the network namespace of this one listens on a Unix socket that it named so: the file alone is there before. Linux only. */
export async function isServed(pid: number, path: string): Promise<boolean> {
  return (await inodesOfPath(pid, path)).size > 0;
}

async function whenHolds(child: Child, holds: () => Promise<boolean>): Promise<Listening> {
  let ended: Outcome | undefined;
  void child.outcome.then((outcome) => {
    ended = outcome;
  });
  const began = performance.now();
  for (let passed = 0; passed < startLimitMs; passed = performance.now() - began) {
    if (ended !== undefined) return ended;
    if (await holds()) return 'listening';
    await new Promise((resolve) => setTimeout(resolve, Math.max(lookMs, passed / slowing)));
  }
  return ended ?? 'timeout';
}

/**
 * Looked up rather than tried: another program may listen there, and vpcs, which serves one connection at a time, would say its first
 * words to the one that tried.
 */
async function listens(pid: number, at: number | string): Promise<boolean> {
  if (process.platform !== 'linux') return answers(at);
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
  const own = new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
  // The kernel's tables are read last: those of TCP take it milliseconds each, however few connections there are.
  if (own.size === 0) return false;
  if (typeof at === 'string') return hasAny(own, await inodesOfPath(pid, at));
  return hasAny(own, await inodesOfPort(pid, 'tcp', at)) || hasAny(own, await inodesOfPort(pid, 'tcp6', at));
}

/** False also when that cannot be read. */
function hasOwnNetwork(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`) !== readlinkSync('/proc/self/ns/net');
  } catch {
    return false;
  }
}

/**
 * Whether a socket of the process's network namespace listens or is connected. The tables would say the port as well, but take milliseconds
 * each. @see proc(5), /proc/PID/net/sockstat: a socket that only exists is not "inuse"
 */
function hasTcpSocket(pid: number): boolean {
  try {
    return /^TCP: inuse [1-9]/m.test(readFileSync(`/proc/${pid}/net/sockstat`, 'latin1'));
  } catch {
    return false;
  }
}

const hasAny = (own: ReadonlySet<string>, inodes: ReadonlySet<string>) => [...inodes].some((inode) => own.has(inode));

/** Sockets that listen on a port, by inode. @see proc(5), /proc/net/tcp: local address, state 0A is LISTEN, field 10 is the inode */
async function inodesOfPort(pid: number, table: 'tcp' | 'tcp6', port: number): Promise<Set<string>> {
  const text = await readFile(`/proc/${pid}/net/${table}`, 'latin1').catch(() => '');
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = text.split('\n').map((line) => line.trim().split(/\s+/));
  return new Set(
    rows.flatMap(([, local, , state, , , , , , inode]) => (state === '0A' && local?.endsWith(suffix) && inode ? [inode] : [])),
  );
}

/** @see proc(5), /proc/net/unix: flags 00010000 is a socket that listens (SO_ACCEPTCON), field 7 is the inode, then the path */
async function inodesOfPath(pid: number, path: string): Promise<Set<string>> {
  const text = await readFile(`/proc/${pid}/net/unix`, 'utf8').catch(() => '');
  const rows = text.matchAll(/^\S+ \S+ \S+ 00010000 \S+ \S+ +(\d+) (.*)$/gm);
  return new Set(Array.from(rows, ([, inode = '', at]) => (at === path ? inode : '')).filter((inode) => inode !== ''));
}

function answers(at: number | string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = typeof at === 'number' ? connect({ port: at, host: '127.0.0.1' }) : connectSocket(at);
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
