/**
 * The work of the thread that takes an archive apart. It may wait for the disk: small files, of which there can be very many, are read
 * and written in one go each, which takes a tenth of the time that streams take.
 */
import { closeSync, createWriteStream, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs';
import { mkdir, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { crc32, inflateRawSync } from 'node:zlib';
import type { Entry, ZipFile } from 'yauzl';
import { fault, isFault } from '../../api/faults.ts';
import { DiskFloor, DiskFloorError } from '../../lib/disk-floor.ts';
import { ForeignReferenceError } from '../../lib/disk-image/image.ts';
import { checkArrival } from '../../lib/disk-image/references.ts';
import { leadsBelow } from '../../lib/inside.ts';
import { type ArchiveEntry, listEntries, projectEntry, refuseArchive } from './archive-entries.ts';
import type { ExtractTask, OnBytes } from './extract.ts';
import { deflated, openUnpacked, stored } from './unpack.ts';

/** No header of a disk image that refers to something is shorter. */
const smallestImageBytes = 72;

/** @throws archive_invalid, disk_floor, storage_failed */
export async function extractHere({ archive, folder, floorBytes }: ExtractTask, onBytes: OnBytes): Promise<void> {
  try {
    const { openPromise } = await import('yauzl');
    const zip = await openPromise(archive, { lazyEntries: true, autoClose: false, strictFileNames: true });
    try {
      await extractAll(zip, { archive, folder, floorBytes, onBytes });
    } finally {
      zip.close();
    }
  } catch (error) {
    if (isFault(error)) throw error;
    if (error instanceof DiskFloorError) throw fault('disk_floor', { reason: error.message }, { cause: error });
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('E') && !code.startsWith('ERR_')) throw fault('storage_failed', { reason: message }, { cause: error });
    refuseArchive(message, error);
  }
}

interface Extracting extends ExtractTask {
  readonly onBytes: OnBytes;
}

async function extractAll(zip: ZipFile, { archive, folder, floorBytes, onBytes }: Extracting): Promise<void> {
  const entries = await listEntries(zip, (await stat(archive)).size);
  if (!entries.some(({ path, kind }) => path === projectEntry && kind === 'file'))
    refuseArchive(`there is no ${projectEntry} in it`);
  const totalBytes = entries.reduce((sum, { entry }) => sum + entry.uncompressedSize, 0);
  await new DiskFloor([folder], floorBytes).check(totalBytes);
  const small = new SmallFiles(zip, archive, folder);
  let doneBytes = 0;
  try {
    for (const item of entries) {
      if (item.kind === 'folder') mkdirSync(join(folder, item.path), { recursive: true });
      if (item.kind !== 'file') continue;
      if (isSmall(item)) await small.extract(item);
      else await extractFile(zip, item, folder);
      await examine(item, folder);
      doneBytes += item.entry.uncompressedSize;
      onBytes(doneBytes, totalBytes);
    }
  } finally {
    small.close();
  }
  // Last, so that nothing is ever written through a link.
  for (const item of entries) if (item.kind === 'link') await extractLink(zip, item, folder);
}

/** Stored or deflated, and small enough to be held in memory twice. */
function isSmall({ entry }: ArchiveEntry): boolean {
  const { compressionMethod: method, uncompressedSize, compressedSize } = entry;
  return (method === stored || method === deflated) && uncompressedSize <= smallBytes && compressedSize <= smallBytes;
}

const smallBytes = 256 * 1024;

class SmallFiles {
  readonly #zip: ZipFile;
  readonly #archive: number;
  readonly #folder: string;
  readonly #made = new Set<string>();

  constructor(zip: ZipFile, archive: string, folder: string) {
    this.#zip = zip;
    this.#archive = openSync(archive, 'r');
    this.#folder = folder;
  }

  async extract({ entry, path, mode }: ArchiveEntry): Promise<void> {
    const { fileDataStart } = await this.#zip.readLocalFileHeaderPromise(entry, { minimal: true });
    const packed = Buffer.alloc(entry.compressedSize);
    if (readSync(this.#archive, packed, 0, packed.length, fileDataStart) !== packed.length) refuseArchive('it is cut off');
    const content = entry.compressionMethod === stored ? packed : inflate(packed, entry);
    if (content.length !== entry.uncompressedSize) refuseArchive(`"${entry.fileName}" holds more or less than it says`);
    if (crc32(content) !== entry.crc32) refuseArchive(`"${entry.fileName}" is damaged: its checksum is another one`);
    const target = join(this.#folder, path);
    const parent = dirname(target);
    if (!this.#made.has(parent)) mkdirSync(parent, { recursive: true });
    this.#made.add(parent);
    writeFileSync(target, content, { mode });
  }

  close(): void {
    closeSync(this.#archive);
  }
}

function inflate(packed: Buffer, { fileName, uncompressedSize }: Entry): Buffer {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(uncompressedSize, 1) });
  } catch (error) {
    refuseArchive(`"${fileName}" cannot be unpacked: ${(error as Error).message}`, error);
  }
}

async function extractFile(zip: ZipFile, item: ArchiveEntry, folder: string): Promise<void> {
  const target = join(folder, item.path);
  await mkdir(dirname(target), { recursive: true });
  const source = await openUnpacked(zip, item.entry);
  await pipeline(source, createWriteStream(target, { mode: item.mode, highWaterMark: 256 * 1024 }));
}

/** Whatever its name and size: a disk image may refer to files of the host. */
async function examine(item: ArchiveEntry, folder: string): Promise<void> {
  if (item.entry.uncompressedSize < smallestImageBytes) return;
  await checkArrival(join(folder, item.path)).catch((error: unknown) => {
    if (error instanceof ForeignReferenceError) refuseArchive(`the image "${item.path}" is refused: ${error.message}`, error);
    throw error;
  });
}

async function extractLink(zip: ZipFile, { entry, path }: ArchiveEntry, folder: string): Promise<void> {
  const target = await text(await openUnpacked(zip, entry));
  const link = join(folder, path);
  if (!leadsBelow(folder, link, target)) refuseArchive(`the link "${path}" points outside the project`);
  await mkdir(dirname(link), { recursive: true });
  await symlink(target, link);
}
