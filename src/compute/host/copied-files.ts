/**
 * Files by the hashes of their blocks: changes are found without asking the other side, and the reader of a block sees
 * whether it is still the one that was listed.
 */
import { createHash, hash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fault } from '../../api/faults.ts';
import { isOpenedBelow } from '../../lib/open-folder.ts';
import { openRegular } from '../../lib/regular-file.ts';
import { Turns } from '../../lib/turns.ts';
import { copyBlockBytes, copyEntryBytes, copyHashBytes, largestCopiedBytes } from '../../schema/node-copy.ts';

export interface HashedFile {
  /** Path in the folder, under which the file is listed. */
  readonly path: string;
  /** Absolute path of the file that is read. */
  readonly file: string;
  readonly size: number;
  readonly sum: string;
  readonly hashes: Buffer;
  /** Changes with the file. */
  readonly identity: string;
  /** Sum and hashes of the previous listing. */
  readonly earlier: Pick<HashedFile, 'sum' | 'hashes'> | undefined;
}

const readBytes = 8 * copyBlockBytes;
/** Limit of the entries in one piece of an answer. */
const mostEntries = 1024;

/** Whether a file or folder was removed. */
export const isGone = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

/**
 * Regular files below the folder, none without the folder; links are not followed. `isWanted`: of its path there.
 * @throws errors of the system, also when a folder is removed meanwhile
 */
export async function filesBelow(folder: string, isWanted: (path: string) => boolean): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(async (error: Error) => {
    if (isGone(error) && !(await lstat(folder).catch(() => undefined))) return [];
    throw error;
  });
  const paths = entries.flatMap((entry) => (entry.isFile() ? relative(folder, join(entry.parentPath, entry.name)) : []));
  return paths.filter(isWanted).sort();
}

/**
 * Hashes the blocks of a file, unless it has not changed since `known`. `path` is its name in the list, `name` the file that is
 * read; both are relative to `folder`. @throws node_failed when the file changes meanwhile, and errors of the system
 */
export async function hashFile(
  { folder, path, name }: { readonly folder: string; readonly path: string; readonly name: string },
  known: HashedFile | undefined,
): Promise<HashedFile> {
  const file = join(folder, name);
  const facts = await lstat(file, { bigint: true });
  const identity = identityOf(facts);
  if (known?.identity === identity && known.file === file) return known;
  const changes = () => fault('node_failed', { name: path, reason: 'it changes while it is read' });
  // A guest of a container makes a file of any size that takes no space.
  if (facts.size > largestCopiedBytes)
    throw fault('node_failed', { name: path, reason: `it has more than ${largestCopiedBytes / 2 ** 30} GiB` });
  const size = Number(facts.size);
  const hashes = Buffer.alloc(copyHashBytes * Math.ceil(size / copyBlockBytes));
  await withFile(folder, file, async (handle) => {
    const buffer = Buffer.allocUnsafe(readBytes);
    for (let position = 0; position < size; position += readBytes) {
      const wanted = Math.min(readBytes, size - position);
      const { bytesRead } = await handle.read(buffer, 0, wanted, position);
      if (bytesRead < wanted) throw changes();
      for (let at = 0; at < wanted; at += copyBlockBytes)
        hashOf(buffer.subarray(at, Math.min(wanted, at + copyBlockBytes))).copy(
          hashes,
          ((position + at) / copyBlockBytes) * copyHashBytes,
        );
    }
  });
  if (!(await isUnchanged({ file, identity }))) throw changes();
  // The list leaves out what `known` was compared with: a file that changes again and again would keep all its lists.
  const earlier = known && { sum: known.sum, hashes: known.hashes };
  return { path, file, size, sum: sumOf(hashes, size), hashes, identity, earlier };
}

export async function isUnchanged({ file, identity }: Pick<HashedFile, 'file' | 'identity'>): Promise<boolean> {
  return lstat(file, { bigint: true }).then(
    (facts) => identityOf(facts) === identity,
    () => false,
  );
}

export function hashOf(block: Uint8Array): Buffer {
  return hash('sha256', block, 'buffer');
}

export function sumOf(hashes: Uint8Array, size: number): string {
  return createHash('sha256').update(hashes).update(String(size)).digest('hex');
}

/** Numbers and hashes of the blocks that differ from what had this sum; of all blocks where that is not known. A terabyte has 16 million. */
export async function* differences({ sum, hashes, earlier }: HashedFile, known: string): AsyncGenerator<Buffer> {
  if (known === sum) return;
  const before = earlier?.sum === known ? earlier.hashes : undefined;
  const turns = new Turns();
  let entries: Buffer[] = [];
  for (let at = 0; at < hashes.length; at += copyHashBytes) {
    if (turns.isOver) await turns.next();
    const own = hashes.subarray(at, at + copyHashBytes);
    if (before?.subarray(at, at + copyHashBytes).equals(own)) continue;
    const entry = Buffer.allocUnsafe(copyEntryBytes);
    entry.writeUInt32BE(at / copyHashBytes);
    own.copy(entry, 4);
    if (entries.push(entry) < mostEntries) continue;
    yield Buffer.concat(entries);
    entries = [];
  }
  if (entries.length > 0) yield Buffer.concat(entries);
}

/** Blocks one after the other, by ranges of `[first, count]`. */
export async function* readBlocks(
  folder: string,
  { file, size }: HashedFile,
  ranges: readonly (readonly [number, number])[],
): AsyncGenerator<Buffer> {
  const { file: handle } = await openRegular(file, { noFollow: true });
  try {
    await requireBelow(folder, handle);
    for (const [first, count] of ranges) {
      for (let block = first; block < first + count; block += 1) {
        const length = Math.min(copyBlockBytes, size - block * copyBlockBytes);
        if (length <= 0) return;
        const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, block * copyBlockBytes);
        yield buffer.subarray(0, bytesRead);
      }
    }
  } finally {
    await handle.close();
  }
}

async function withFile(folder: string, path: string, read: (handle: FileHandle) => Promise<void>): Promise<void> {
  const { file } = await openRegular(path, { noFollow: true });
  try {
    await requireBelow(folder, file);
    await read(file);
  } finally {
    await file.close();
  }
}

/** A container may have put a link in place of a folder. */
async function requireBelow(folder: string, handle: FileHandle): Promise<void> {
  if (await isOpenedBelow(folder, handle)) return;
  throw fault('path_forbidden', { path: folder, reason: 'what it leads to is outside of the folder' });
}

const identityOf = ({ dev, ino, size, mtimeNs, ctimeNs, mode }: BigIntStats) =>
  (Number(mode) & constants.S_IFMT) === constants.S_IFREG ? `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}` : '';
