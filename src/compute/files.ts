/** Files of a project, as clients list, read and write them. Nothing outside the project's folder, wherever symbolic links lead. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { extname, join, normalize, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fault } from '../api/faults.ts';
import { Stream } from '../api/route.ts';
import { isReallyBelow } from '../lib/inside.ts';
import { writeStream } from '../lib/stream-file.ts';

export interface FileEntry {
  readonly path: string;
  readonly md5sum: string;
}

/** Every file below the folder with its sum, in order of names. Files that cannot be read are left out. */
export async function listFiles(folder: string): Promise<FileEntry[]> {
  const entries: FileEntry[] = [];
  for await (const path of walk(folder)) {
    const md5sum = await sum(path).catch(() => undefined);
    if (md5sum !== undefined) entries.push({ path: relative(folder, path), md5sum });
  }
  return entries.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** @throws path_forbidden, file_not_found */
export async function readProjectFile(folder: string, path: string): Promise<Stream> {
  const file = await inside(folder, path);
  try {
    const handle = await open(file, 'r');
    const { mtime } = await handle.stat().then(async (facts) => {
      if (facts.isFile()) return facts;
      await handle.close();
      throw new Error('it is not a file');
    });
    const type = contentTypes[extname(file).toLowerCase()] ?? 'application/octet-stream';
    return new Stream(type, handle.createReadStream(), { 'last-modified': mtime.toUTCString() });
  } catch (cause) {
    throw refused(path, cause as NodeJS.ErrnoException);
  }
}

/** An upload that breaks off changes nothing. @throws path_forbidden, storage_failed */
export async function writeProjectFile(folder: string, path: string, source: Readable): Promise<void> {
  // A client that goes before its bytes are asked for.
  source.on('error', () => undefined);
  const file = await inside(folder, path);
  await writeStream(file, source).catch((cause) => {
    throw refused(path, cause);
  });
}

async function inside(folder: string, path: string): Promise<string> {
  if (path.includes('\0')) throw fault('path_forbidden', { path: path.replaceAll('\0', '?'), reason: 'it holds a NUL character' });
  const file = normalize(join(folder, path));
  if (await isReallyBelow(folder, file)) return file;
  throw fault('path_forbidden', { path, reason: "it lies outside the project's folder" });
}

function refused(path: string, cause: NodeJS.ErrnoException): Error {
  if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return fault('file_not_found', { path }, { cause });
  const full = cause.code === 'ENOSPC' || cause.code === 'EDQUOT' || cause.code === 'EIO';
  if (full) return fault('storage_failed', { reason: cause.message }, { cause });
  return fault('path_forbidden', { path, reason: cause.message }, { cause });
}

/** Links to folders are not followed; memory images of other emulators are not files of the project. */
async function* walk(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else if (!entry.name.endsWith('.ghost') && (entry.isFile() || entry.isSymbolicLink())) yield path;
  }
}

async function sum(path: string): Promise<string> {
  const hash = createHash('md5');
  await pipeline(createReadStream(path, { highWaterMark: 256 * 1024 }), hash);
  return hash.digest('hex');
}

/** What the nodes' files are; anything else is bytes. */
const contentTypes: Readonly<Record<string, string>> = {
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.jpg': 'image/jpeg',
  '.html': 'text/html',
  '.zip': 'application/zip',
  '.tar': 'application/x-tar',
};
