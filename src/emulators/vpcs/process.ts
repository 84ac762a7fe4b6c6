/**
 * What vpcs is as processes: the one we start serves the console, and a helper in a session of its own, forked by it, is the PC.
 * The helper ends with the first one when that is asked to end, and survives it when it is killed.
 */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Child, Outcome } from '../../process/child.ts';
import { endMarked, type Marked } from '../../process/orphans.ts';
import { listPids, processFacts } from '../../process/proc.ts';
import type { Ending } from '../driver.ts';

/** vpcs gives no sign of being ready, so it is looked at this often, and for at most so long. */
const lookMs = 10;
const startLimitMs = 10_000;
/** The helper follows its parent within a few milliseconds when that ends politely. */
const helperGraceMs = 500;

/** Waits until the child listens on its console port; its outcome if it ends before, `timeout` if it does neither. */
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
  return 'timeout';
}

/** Running children of a process. */
export async function helpersOf(pid: number): Promise<Marked[]> {
  const helpers: Marked[] = [];
  for (const other of await listPids()) {
    const facts = processFacts(other);
    if (facts?.parent === pid && facts.state !== 'Z') helpers.push({ pid: other, sid: facts.session, startTime: facts.startTime });
  }
  return helpers;
}

/** Settles when neither the child nor one of its helpers runs. */
export async function wholeEnd(child: Child, helpers: readonly Marked[]): Promise<Ending> {
  const outcome = await child.outcome;
  await endMarked(helpers, outcome.how === 'killed' ? 0 : helperGraceMs);
  return endingOf(outcome);
}

export function endingOf({ how, code, signal, tail }: Outcome): Ending {
  const said = tail === '' ? '' : `: ${tail}`;
  if (how === 'stopped' || how === 'killed') return { how: 'stopped', reason: 'it was stopped' };
  if (how === 'failed-to-start') return { how: 'failed', reason: `vpcs could not be started${said}` };
  if (how === 'lost') return { how: 'failed', reason: `vpcs ended by itself${said}` };
  const cause = signal === undefined ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`;
  return { how: code === 0 ? 'exited' : 'failed', reason: `vpcs ended with ${cause}${said}` };
}

/**
 * Whether this process listens on a TCP port. Looked up rather than tried: vpcs serves one connection at a time, and what it says
 * first would be lost with the one that tried.
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
  const text = await readFile(`/proc/${pid}/net/tcp`, 'latin1').catch(() => '');
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = text.split('\n').map((line) => line.trim().split(/\s+/));
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
