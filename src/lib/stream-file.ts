/** Writes a stream to a file that is there only when all of it has come: an upload that breaks off changes nothing. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { removeEarlier, syncFolder } from './atomic-file.ts';
import { takeName } from './take-name.ts';

export interface WriteOptions {
  /** Of the file, less the umask. */
  readonly mode?: number;
  /** Looks at the whole file before it gets its name; what it throws refuses the file. */
  readonly check?: (temporary: string) => Promise<void>;
  /** A file that has the name already is not replaced: EEXIST. */
  readonly isNew?: boolean;
  /** Runs what makes files and gives them their names while their folder is kept from being removed; not while bytes are awaited. */
  readonly whileThere?: <T>(fn: () => Promise<T>) => Promise<T>;
}

/** Makes the folders above it; on disk when it resolves. */
export async function writeStream(path: string, source: Readable, options: WriteOptions = {}): Promise<void> {
  const { mode = 0o644, check, isNew = false, whileThere = (fn) => fn() } = options;
  const temporary = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  // A source that breaks off before its bytes are asked for must wait for that, not end the process.
  source.on('error', () => undefined);
  try {
    const handle = await whileThere(async () => {
      await mkdir(dirname(path), { recursive: true });
      return open(temporary, 'wx', mode);
    });
    await pipeline(source, handle.createWriteStream({ flush: true }));
    await check?.(temporary);
    await whileThere(async () => {
      await (isNew ? takeName : rename)(temporary, path);
      await syncFolder(dirname(path));
    });
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

const temporaryName = /^\.[0-9a-f]{12}\.tmp$/;

/** Removes what a process that was killed left of `writeStream` in a folder, and below, which no other process writes to. Never rejects. */
export async function removeTemporary(folder: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true }).catch(() => [])) {
    if (temporaryName.test(basename(name))) await removeEarlier(join(folder, name));
  }
}
