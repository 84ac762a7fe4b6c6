/**
 * Allows one server per data directory. The lock is an abstract Unix socket named after the directory: the kernel gives it to one
 * process and releases it however that process ends. Systems other than Linux use a file with the process id.
 */
import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readRegularFile } from './regular-file.ts';

/** Time limit for the socket of a dead holder to go. */
const deadHolderMs = 3_000;

export interface InstanceLock {
  release(): Promise<void>;
}

/** Resolves to the lock, or to the process id of its holder (0 when unknown). */
export async function lockInstance(dataDirectory: string): Promise<InstanceLock | number> {
  const pidFile = join(dataDirectory, 'server.pid');
  const holder = Number(await readRegularFile(pidFile).then(String, () => '0')) || 0;
  const name = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 32);
  const server =
    process.platform === 'linux' ? await take(`\0patchbay-${name}`, holder) : isAlive(holder) ? undefined : createServer();
  if (!server) return holder;
  // The file only names the holder. It is replaced, because another user's file or link must not be written through.
  await rm(pidFile, { recursive: true, force: true }).catch(() => undefined);
  await writeFile(pidFile, `${process.pid}\n`, { flag: 'wx' }).catch(() => undefined);
  return {
    async release() {
      await rm(pidFile, { force: true }).catch(() => undefined);
      server.close();
    },
  };
}

/** Binds the socket, with retries: a child that the holder had forked when it was killed keeps the socket until it executes. */
async function take(path: string, holder: number): Promise<Server | undefined> {
  const until = performance.now() + deadHolderMs;
  for (;;) {
    const server = await listen(path);
    if (server || holder === 0 || isAlive(holder) || performance.now() > until) return server;
    await pause(50);
  }
}

function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen(path, () => {
      server.unref();
      resolve(server);
    });
  });
}

function isAlive(pid: number): boolean {
  if (pid === 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
