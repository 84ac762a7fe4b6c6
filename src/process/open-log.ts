/** Opens the log of a child for its output. Emulators write into the folder of their log, so its name may stand for anything by now. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { setAside } from '../lib/set-aside.ts';

const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
/** A link is not followed, as it may lead to any file of the server; a named pipe is not waited for. */
const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
/** A link; a folder; a pipe that no process reads, or a socket. */
const otherThings = new Set(['ELOOP', 'EMLINK', 'EISDIR', 'ENXIO']);

/** Opens a log; anything at its path but a regular file of one name is moved aside. @throws errors of the system */
export async function openLog(path: string, { append }: { readonly append: boolean }): Promise<FileHandle> {
  const known = await openPlain(path, append);
  if (known) return known;
  await setAside(path);
  return open(path, flags | constants.O_EXCL, 0o600);
}

/**
 * Moves aside anything at a path but a regular file of one name. A program that opens the path itself, as an emulator does with its log, would
 * follow it or wait for it. @throws errors of the system
 */
export async function clearPlace(path: string): Promise<void> {
  const facts = await lstat(path).catch(() => undefined);
  if (facts && !(facts.isFile() && facts.nlink === 1)) await setAside(path);
}

/** Begins a log with a text. @throws as `openLog` */
export async function beginLog(path: string, text: string): Promise<void> {
  const log = await openLog(path, { append: false });
  await log.writeFile(text).finally(() => log.close());
}

async function openPlain(path: string, append: boolean): Promise<FileHandle | undefined> {
  const file = await open(path, append ? flags | O_APPEND : flags, 0o600).catch((error: NodeJS.ErrnoException) => {
    if (otherThings.has(error.code ?? '')) return undefined;
    throw error;
  });
  if (!file) return undefined;
  const facts = await file.stat();
  if (facts.isFile() && facts.nlink === 1) {
    if (!append) await file.truncate(0);
    return file;
  }
  await file.close();
  return undefined;
}
