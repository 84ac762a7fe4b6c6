/** Children that open a TCP port and give no other sign of being ready. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Child, Outcome } from './child.ts';

/** They are looked at this often, and for at most so long. */
const lookMs = 10;
const startLimitMs = 10_000;

/** Waits until the child listens on this port; its outcome if it ends before, `timeout` if it does neither. */
export async function whenListening(child: Child, port: number): Promise<'listening' | 'timeout' | Outcome> {
  let ended: Outcome | undefined;
  void child.outcome.then((outcome) => {
    ended = outcome;
  });
  const limit = performance.now() + startLimitMs;
  while (performance.now() < limit) {
    if (ended !== undefined) return ended;
    if (await listens(child.pid, port)) return 'listening';
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
  return ended ?? 'timeout';
}

/**
 * Looked up rather than tried: another program may listen there, and vpcs, which serves one connection at a time, would say its first
 * words to the one that tried.
 */
async function listens(pid: number, port: number): Promise<boolean> {
  if (process.platform !== 'linux') return answers(port);
  const inodes = await listeningInodes(pid, port);
  if (inodes.size === 0) return false;
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
  return links.some((link) => inodes.has(/^socket:\[(\d+)\]$/.exec(link)?.[1] ?? ''));
}

/** Sockets that listen on a port, by inode. @see proc(5), /proc/net/tcp: local address, state 0A is LISTEN, field 10 is the inode */
async function listeningInodes(pid: number, port: number): Promise<Set<string>> {
  const texts = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'latin1').catch(() => '')));
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = texts.flatMap((text) => text.split('\n')).map((line) => line.trim().split(/\s+/));
  return new Set(
    rows.flatMap(([, local, , state, , , , , , inode]) => (state === '0A' && local?.endsWith(suffix) && inode ? [inode] : [])),
  );
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
