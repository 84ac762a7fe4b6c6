/** Finds the fabric that answers at a socket, or starts one: afterwards there is one that speaks our version. */
import { rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fault } from '../../api/faults.ts';
import { type Child, spawnChild } from '../../process/child.ts';
import { protocolVersion, type Reply } from '../protocol.ts';
import { Connection } from './connection.ts';

export interface FabricPlace {
  /** Path of the control socket, at most 99 bytes: Unix sockets allow 107, and the fabric adds its pid while it starts. */
  readonly socketPath: string;
  /** Receives what the fabric has to say; appended to. Node keeps the fabric's compiled code beside it, in `code`. */
  readonly logPath: string;
  /** Marks the process as one of this server (`process/child.ts`). Default: the socket's folder. */
  readonly runDirectory?: string;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface FoundFabric {
  readonly connection: Connection;
  readonly pid: number;
  /** The process was started by this call, and so has no links. */
  readonly isNew: boolean;
}

/**
 * Time limit from the fabric's start until it listens. A start takes 0.1 s, and more than 30 on a machine with a load of 30: to end
 * it then would only begin anew. A process that ends is noticed at once.
 */
const startLimitMs = 120_000;
/** Time limit of a process that listens, until its first answer. */
const greetLimitMs = 30_000;
const quitLimitMs = 3000;
const pollMs = 5;

/** @throws fabric_unavailable */
export async function findFabric(place: FabricPlace): Promise<FoundFabric> {
  const present = await Connection.open(place.socketPath);
  if (present) {
    const { version, pid } = await greet(present);
    if (version === protocolVersion) return { connection: present, pid, isNew: false };
    await quitFabric(present, pid);
  }
  return startFabric(place);
}

/** Ends the fabric that answers at the place, if one does: a connection to it need not be open, as while it is sought. */
export async function quitPresent({ socketPath }: FabricPlace): Promise<void> {
  const present = await Connection.open(socketPath);
  if (present) await quitFabric(present, (await greet(present)).pid);
}

/** Asks the fabric to end and settles when it has, at the latest by force. */
export async function quitFabric(connection: Connection, pid: number): Promise<void> {
  // The process may end before its answer arrives.
  await connection.request({ op: 'quit' }, quitLimitMs).catch(() => undefined);
  connection.close();
  if (await goneWithin(pid, quitLimitMs)) return;
  signal(pid, 'SIGKILL');
  await goneWithin(pid, quitLimitMs);
}

async function startFabric(place: FabricPlace): Promise<FoundFabric> {
  const child = await spawnFabric(place);
  let ended = false;
  void child.outcome.then(() => {
    ended = true;
  });
  const limit = performance.now() + startLimitMs;
  while (performance.now() < limit) {
    const connection = await Connection.open(place.socketPath);
    if (connection) {
      const { version, pid } = await greet(connection);
      if (version !== protocolVersion) break;
      if (pid === child.pid) {
        child.release();
        return { connection, pid, isNew: true };
      }
      // Another one, started at the same moment, is as good. Ours is still starting: it would take the other one's place when that ends.
      await child.stop({ graceMs: 0 });
      await removeStartingSocket(place, child);
      return { connection, pid, isNew: false };
    }
    if (ended) {
      await removeStartingSocket(place, child);
      throw fault('fabric_unavailable', { reason: `it ended at once: ${(await child.outcome).tail}` });
    }
    await sleep(pollMs);
  }
  const { tail } = await child.stop({ graceMs: 500 });
  throw fault('fabric_unavailable', { reason: `it was started and does not answer: ${tail}` });
}

/** Removes the socket of a fabric that ended before it listened: it has the pid behind its path (`control.ts`). */
function removeStartingSocket({ socketPath }: FabricPlace, { pid }: Child): Promise<void> {
  return rm(`${socketPath}.${pid}`, { force: true });
}

function spawnFabric(place: FabricPlace): Promise<Child> {
  const folder = dirname(place.socketPath);
  return spawnChild({
    program: process.execPath,
    args: [resolve(import.meta.dirname, '../main.ts'), '--socket', place.socketPath],
    cwd: folder,
    logFile: place.logPath,
    append: true,
    runDirectory: place.runDirectory ?? folder,
    // The server's cache has the same modules; without any, types would be stripped at every start (0.3 s of processor time).
    env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE || join(dirname(place.logPath), 'code'), ...place.env },
  });
}

async function greet(connection: Connection): Promise<Reply<{ op: 'hello' }>> {
  try {
    return await connection.request({ op: 'hello' }, greetLimitMs);
  } catch (cause) {
    connection.close();
    throw fault('fabric_unavailable', { reason: 'a process listens at its socket and does not answer' }, { cause });
  }
}

async function goneWithin(pid: number, limitMs: number): Promise<boolean> {
  const limit = performance.now() + limitMs;
  while (signal(pid, 0)) {
    if (performance.now() > limit) return false;
    await sleep(pollMs);
  }
  return true;
}

/** False when there is no such process. */
function signal(pid: number, which: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, which);
  } catch {
    return false;
  }
}
