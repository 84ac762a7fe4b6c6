/** Writes a stream to a file that is there only when all of it has come: an upload that breaks off changes nothing. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { syncFolder } from './atomic-file.ts';

export interface WriteOptions {
  /** Of the file, less the umask. */
  readonly mode?: number;
  /** Looks at the whole file before it gets its name; what it throws refuses the file. */
  readonly check?: (temporary: string) => Promise<void>;
  /** Runs what makes files and gives them their names while their folder is kept from being removed; not while bytes are awaited. */
  readonly whileThere?: <T>(fn: () => Promise<T>) => Promise<T>;
}

/** Makes the folders above it; on disk when it resolves. */
export async function writeStream(path: string, source: Readable, options: WriteOptions = {}): Promise<void> {
  const { mode = 0o644, check, whileThere = (fn) => fn() } = options;
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
      await rename(temporary, path);
      await syncFolder(dirname(path));
    });
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}
