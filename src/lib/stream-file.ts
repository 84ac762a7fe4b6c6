/** Writes a stream to a file that is there only when all of it has come: an upload that breaks off changes nothing. */
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { syncFolder } from './atomic-file.ts';

/** Makes the folders above it; on disk when it resolves. `mode`: of the file, default 0644 less the umask. */
export async function writeStream(path: string, source: Readable, mode = 0o644): Promise<void> {
  // A source that breaks off before its bytes are asked for must wait for that, not end the process.
  source.on('error', () => undefined);
  const temporary = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await mkdir(dirname(path), { recursive: true });
    await pipeline(source, createWriteStream(temporary, { flags: 'wx', flush: true, mode }));
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
}
