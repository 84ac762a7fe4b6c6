/**
 * An uploaded archive as a file: it is read from its end, so it must be there first. Scripts send the archive itself, browsers a form
 * that holds it; what a body calls itself is not heeded, but a form begins with two dashes and an archive does not.
 */
import { createWriteStream } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fault, isFault } from '../../api/faults.ts';
import { refuseArchive } from './archive-entries.ts';

/** Stays free whatever is uploaded. */
const reserveBytes = 64 * 1024 * 1024;
/** The space that is left is asked for again after so many bytes. */
const lookEveryBytes = 16 * 1024 * 1024;
/** RFC 2046 allows 70 characters for what separates the parts. */
const longestBoundary = 70;

/** @throws archive_invalid for a form without a file and for an upload that breaks off, storage_failed */
export async function receiveArchive(body: Readable, file: string, onBytes: (doneBytes: number) => void): Promise<void> {
  // A client that goes before its bytes are asked for.
  body.on('error', () => undefined);
  try {
    const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const head = await readHead(chunks);
    const whole = Readable.from(joined(head, chunks), { objectMode: false });
    const boundary = /^--([^\r\n]+)\r?\n/.exec(head.toString('latin1'))?.[1];
    if (boundary === undefined) await save(whole, file, onBytes);
    else await saveFromForm(whole, boundary, (part) => save(part, file, onBytes));
  } catch (error) {
    if (isFault(error)) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const full = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO';
    if (full) throw fault('storage_failed', { reason: message }, { cause: error });
    refuseArchive(`the upload broke off: ${message}`, error);
  }
}

async function readHead(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < longestBoundary + 4) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  return head;
}

async function* joined(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** The first file of the form. */
async function saveFromForm(source: Readable, boundary: string, take: (part: Readable) => Promise<void>): Promise<void> {
  // Scripts send no forms: they need not wait for this at the start.
  const { Busboy } = await import('@fastify/busboy');
  const form = new Busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    limits: { files: 1, fields: 20, parts: 21, fieldSize: 4096, headerPairs: 50 },
  });
  let taken: Promise<void> | undefined;
  form.on('file', (_name, part) => {
    taken = take(part);
    taken.catch((error: Error) => form.destroy(error));
  });
  await pipeline(source, form);
  if (!taken) refuseArchive('the form holds no file');
  await taken;
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
