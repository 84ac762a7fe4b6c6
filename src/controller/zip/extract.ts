/** Takes an archive apart into a folder, or fails; the caller removes the folder. */
import { createWriteStream } from 'node:fs';
import { mkdir, stat, statfs, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { openPromise, type ZipFile } from 'yauzl';
import { fault, isFault } from '../../api/faults.ts';
import { ForeignReferenceError } from '../../lib/disk-image/image.ts';
import { checkArrival } from '../../lib/disk-image/references.ts';
import { leadsBelow } from '../../lib/inside.ts';
import { type ArchiveEntry, listEntries, projectEntry, refuseArchive } from './archive-entries.ts';
import { openUnpacked } from './unpack.ts';

/** Stays free during imports: known projects must remain writable. */
const reserveBytes = 64 * 1024 * 1024;

/** No header of a disk image that refers to something is shorter. */
const smallestImageBytes = 72;

/** Called for every file: bytes done so far, of how many. */
export type OnBytes = (doneBytes: number, totalBytes: number) => void;

/** @throws archive_invalid, storage_failed */
export async function extractArchive(archive: string, folder: string, onBytes: OnBytes = () => undefined): Promise<void> {
  try {
    const zip = await openPromise(archive, { lazyEntries: true, autoClose: false, strictFileNames: true });
    try {
      await extractAll(zip, { archive, folder, onBytes });
    } finally {
      zip.close();
    }
  } catch (error) {
    if (isFault(error)) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('E') && !code.startsWith('ERR_')) throw fault('storage_failed', { reason: message }, { cause: error });
    refuseArchive(message, error);
  }
}

interface Extracting {
  readonly archive: string;
  readonly folder: string;
  readonly onBytes: OnBytes;
}

async function extractAll(zip: ZipFile, { archive, folder, onBytes }: Extracting): Promise<void> {
  const entries = await listEntries(zip, (await stat(archive)).size);
  if (!entries.some(({ path, kind }) => path === projectEntry && kind === 'file'))
    refuseArchive(`there is no ${projectEntry} in it`);
  const totalBytes = entries.reduce((sum, { entry }) => sum + entry.uncompressedSize, 0);
  const { bavail, bsize } = await statfs(folder);
  if (totalBytes + reserveBytes > bavail * bsize)
    throw fault('storage_failed', { reason: `it needs ${totalBytes} bytes, and there is not so much space left` });
  let doneBytes = 0;
  for (const item of entries) {
    if (item.kind === 'folder') await mkdir(join(folder, item.path), { recursive: true });
    if (item.kind !== 'file') continue;
    await extractFile(zip, item, folder);
    doneBytes += item.entry.uncompressedSize;
    onBytes(doneBytes, totalBytes);
  }
  // Last, so that nothing is ever written through a link.
  for (const item of entries) if (item.kind === 'link') await extractLink(zip, item, folder);
}

async function extractFile(zip: ZipFile, item: ArchiveEntry, folder: string): Promise<void> {
  const target = join(folder, item.path);
  await mkdir(dirname(target), { recursive: true });
  const source = await openUnpacked(zip, item.entry);
  await pipeline(source, createWriteStream(target, { mode: item.mode, highWaterMark: 256 * 1024 }));
  if (item.entry.uncompressedSize < smallestImageBytes) return;
  await checkArrival(target).catch((error: unknown) => {
    if (error instanceof ForeignReferenceError) refuseArchive(`the image "${item.path}" is refused: ${error.message}`, error);
    throw error;
  });
}

async function extractLink(zip: ZipFile, { entry, path }: ArchiveEntry, folder: string): Promise<void> {
  const target = await text(await openUnpacked(zip, entry));
  const link = join(folder, path);
  if (!leadsBelow(folder, link, target)) refuseArchive(`the link "${path}" leads out of the project`);
  await mkdir(dirname(link), { recursive: true });
  await symlink(target, link);
}
