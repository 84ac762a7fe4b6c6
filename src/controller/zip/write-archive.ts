/** An archive of a folder, made while it is read: nothing is held in memory, and nothing is written. */
import { createReadStream, type Stats } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import type { ReadStreamOptions, ZipFile } from 'yazl';
import { leadsBelow } from '../../lib/inside.ts';
import { hasZstd } from './zstd.ts';
import { type GiveSource, ZstdEntries } from './zstd-entries.ts';

export interface ArchiveCompression {
  readonly method: 'none' | 'zip' | 'zstd';
  /** Default: that of the method. */
  readonly level?: number;
}

interface ArchiveOptions {
  readonly compression: ArchiveCompression;
  /** Called for every file that has been read, with the bytes done so far. */
  readonly onBytes?: (doneBytes: number) => void;
}

export interface Archive {
  readonly output: Readable;
  /** Size of all files before compression. */
  readonly totalBytes: number;
  /** Links that point outside the folder, which every import would refuse. */
  readonly leftOut: readonly string[];
}

interface Item {
  readonly path: string;
  readonly file: string;
  readonly facts: Stats;
  /** A folder that becomes an archive of its own. */
  readonly isArchive: boolean;
  /** Target of a symbolic link. */
  readonly target?: string;
}

/** Files that are no part of a project, by their names. Source: GNS3's format. */
const programLogs = /(?:_log\.txt|\.log|^\.DS_Store)$/;
/** ZIP knows no earlier time. */
const earliest = new Date(1980, 0, 2);

/**
 * `first` come before the folder's files: path to content. Folders for which `isNested` says so become archives of their own, not
 * compressed. When `output` is destroyed, the file being read is closed.
 */
export async function archiveFolder(
  folder: string,
  first: ReadonlyMap<string, Buffer>,
  { compression, onBytes = () => undefined }: ArchiveOptions,
  isNested: (path: string) => boolean = () => false,
): Promise<Archive> {
  const { ZipFile } = await import('yazl');
  const zip = new ZipFile();
  const output = new PassThrough({ highWaterMark: 256 * 1024 });
  zip.on('error', (error: Error) => output.destroy(error));
  const add = adderOf(zip, compression);
  for (const [path, content] of first)
    add(path, { size: content.length }, (give) => give(null, Readable.from([content], { objectMode: false })));
  const found = await listFiles(folder, '', isNested);
  const leavesFolder = ({ file, target }: Item) => target !== undefined && !leadsBelow(folder, file, target);
  const items = found.filter((item) => !leavesFolder(item));
  let doneBytes = 0;
  let reading: Readable | undefined;
  for (const item of items) {
    const onRead = (sizeBytes: number) => {
      doneBytes += sizeBytes;
      onBytes(doneBytes);
    };
    addItem(zip, item, add, (source) => {
      reading = source;
      source.once('end', () => onRead(sizeOf(item)));
    });
  }
  zip.end();
  zip.outputStream.pipe(output);
  output.once('close', () => reading?.destroy());
  return {
    output,
    totalBytes: items.reduce((sum, item) => sum + sizeOf(item), 0),
    leftOut: found.filter(leavesFolder).map(({ path }) => path),
  };
}

type AddStream = (path: string, options: Partial<ReadStreamOptions>, open: (give: GiveSource) => void) => void;

/** Returns a function that adds a file compressed by the method. Without Zstandard in Node it is deflated, which every client reads. */
function adderOf(zip: ZipFile, { method, level }: ArchiveCompression): AddStream {
  if (method === 'zstd' && hasZstd) {
    const entries = new ZstdEntries(zip, level);
    return (path, options, open) => entries.add(path, options, open);
  }
  const compressionLevel = method === 'none' ? 0 : method === 'zip' ? (level ?? standardLevel) : standardLevel;
  return (path, options, open) => zip.addReadStreamLazy(path, { ...options, compressionLevel }, open);
}

/** Level of deflate. */
const standardLevel = 6;

function sizeOf({ facts }: Item): number {
  return facts.isFile() ? Number(facts.size) : 0;
}

/** Files and nested folders are read when their turn comes: `onOpen` is called then. */
function addItem(zip: ZipFile, { path, file, facts, isArchive, target }: Item, add: AddStream, onOpen: (source: Readable) => void) {
  const options = { mtime: facts.mtime < earliest ? earliest : facts.mtime, mode: Number(facts.mode) };
  if (target !== undefined) {
    zip.addBuffer(Buffer.from(target), path, { ...options, compress: false });
    return;
  }
  if (facts.isDirectory() && !isArchive) {
    zip.addEmptyDirectory(path, options);
    return;
  }
  const open = (give: GiveSource) => {
    openItem(file, isArchive).then(
      (source) => {
        onOpen(source);
        give(null, source);
      },
      (error: Error) => give(error, new PassThrough()),
    );
  };
  // The size is not known before, and the content is packed already.
  if (isArchive) zip.addReadStreamLazy(path, { ...options, mode: 0o100644, compress: false }, open);
  else add(path, { ...options, size: Number(facts.size) }, open);
}

async function openItem(file: string, isArchive: boolean): Promise<Readable> {
  if (!isArchive) return createReadStream(file, { highWaterMark: 256 * 1024 });
  return (await archiveFolder(file, new Map(), { compression: { method: 'none' } })).output;
}

/** Lists files, links, empty folders and nested ones, in order of names. Logs of programs and special files are left out. */
async function listFiles(folder: string, prefix: string, isNested: (path: string) => boolean): Promise<Item[]> {
  const items: Item[] = [];
  for (const name of (await readdir(join(folder, prefix))).sort()) {
    const path = prefix === '' ? name : `${prefix}/${name}`;
    const file = join(folder, path);
    const facts = await lstat(file);
    const isArchive = facts.isDirectory() && isNested(path);
    const below = facts.isDirectory() && !isArchive ? await listFiles(folder, path, isNested) : [];
    if (below.length > 0) items.push(...below);
    else if (facts.isSymbolicLink()) items.push({ path, file, facts, isArchive, target: await readlink(file) });
    else if (!facts.isFile() || !programLogs.test(name)) items.push({ path, file, facts, isArchive });
  }
  return items.filter(({ facts }) => facts.isFile() || facts.isDirectory() || facts.isSymbolicLink());
}
