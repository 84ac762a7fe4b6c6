/** Writes a stream to a file that appears only when the stream is complete: an upload that breaks off changes nothing. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { removeEarlier, syncFolder } from './atomic-file.ts';
import { takeName } from './take-name.ts';

export interface WriteOptions {
  /** Permissions of the file, less the umask. */
  readonly mode?: number;
  /** Checks the complete file before the rename; an error refuses the file. */
  readonly check?: (temporary: string) => Promise<void>;
  /** Throws EEXIST instead of replacing an existing file. */
  readonly isNew?: boolean;
  /** Runs the creation and the rename while the folder is protected from removal; the wait for bytes is outside. */
  readonly whileThere?: <T>(fn: () => Promise<T>) => Promise<T>;
}

/** Writes the file and creates its folders; resolves when it is on disk. */
export async function writeStream(path: string, source: Readable, options: WriteOptions = {}): Promise<void> {
  const { mode = 0o644, check, isNew = false, whileThere = (fn) => fn() } = options;
  const temporary = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  // A source may fail before its bytes are read: the listener keeps the error from ending the process.
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

/**
 * Removes the temporary files of a killed process's `writeStream` in a folder and below. No other process may write there. Never
 * rejects.
 */
export async function removeTemporary(folder: string): Promise<void> {
  // Entries behind symbolic links are not listed when their types are asked for.
  for (const { parentPath, name } of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
    if (temporaryName.test(name)) await removeEarlier(join(parentPath, name));
  }
}
