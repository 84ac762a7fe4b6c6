/** An uploaded archive as a file: it is read from its end, so it must be there first. */
import { createWriteStream } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fault, isFault } from '../../api/faults.ts';
import { refuseArchive } from '../zip/archive-entries.ts';

/** Stays free whatever is uploaded. */
const reserveBytes = 64 * 1024 * 1024;
/** The free space is checked again after so many bytes. */
const lookEveryBytes = 16 * 1024 * 1024;

/** @throws archive_invalid for an upload that breaks off, form_invalid, storage_failed */
export async function receiveArchive(body: Readable, file: string, onBytes: (doneBytes: number) => void): Promise<void> {
  try {
    await save(body, file, onBytes);
  } catch (error) {
    if (isFault(error)) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const full = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO';
    if (full) throw fault('storage_failed', { reason: message }, { cause: error });
    refuseArchive(`the upload broke off: ${message}`, error);
  }
}

async function save(source: Readable, file: string, onBytes: (doneBytes: number) => void): Promise<void> {
  async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let doneBytes = 0;
    let lookAt = lookEveryBytes;
    for await (const chunk of chunks) {
      doneBytes += chunk.length;
      if (doneBytes >= lookAt) {
        lookAt += lookEveryBytes;
        const { bavail, bsize } = await statfs(dirname(file));
        if (bavail * bsize < reserveBytes) throw fault('storage_failed', { reason: 'there is no space left for the archive' });
      }
      onBytes(doneBytes);
      yield chunk;
    }
  }
  await pipeline(source, counted, createWriteStream(file));
}
