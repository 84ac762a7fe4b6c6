/**
 * Stands in for `node:fs/promises`: paths below `/sim` are on the simulated disk, others are read from the real one, at once. What is not here
 * finds no such path on the real disk.
 */
import * as real from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { failed, MemoryFile, MemoryFolder } from '../engine/disk.ts';
import { simulation } from '../engine/simulation.ts';
import { type Data, disk, factsOf, firstNumber, now, SimulatedHandle } from './file-handle.ts';

export * from 'node:fs/promises';

type Flags = string | number | undefined;

export const { constants } = real;
const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_TRUNC } = constants;

/** Paths of open folders, by the numbers that stand for them below `/proc`. */
const opened = /^\/proc\/(?:self|\d+)\/fd\/(\d{7,})(?=\/|$)/;

/** Where a path leads on the simulated disk. Undefined: it is one of the real disk. */
function simulated(path: string): string | undefined {
  const [, number] = opened.exec(path) ?? [];
  const way = number === undefined ? path : path.replace(opened, disk().opened[Number(number) - firstNumber] ?? '');
  return way === '/sim' || way.startsWith('/sim/') ? normalize(way).replace(/(.)\/$/, '$1') : undefined;
}

/** @throws for one that is written to and is not there */
function pathOf(path: string): string {
  const own = simulated(path);
  if (own === undefined) throw failed('EROFS', path);
  return own;
}

function flagsOf(flags: Flags = 'r'): number {
  if (typeof flags === 'number') return flags;
  const table: Record<string, number> = {
    r: 0,
    'r+': 0,
    w: O_CREAT | O_TRUNC,
    'w+': O_CREAT | O_TRUNC,
    wx: O_CREAT | O_EXCL,
    'wx+': O_CREAT | O_EXCL,
    a: O_CREAT | O_APPEND,
  };
  const known = table[flags];
  if (known === undefined) throw new Error(`the simulated disk does not know the flags "${flags}"`);
  return known;
}

export async function open(given: string, flags?: Flags, mode?: number) {
  const path = simulated(given);
  if (path === undefined) return realHandle(given, flags);
  const bits = flagsOf(flags);
  const existing = disk().find(path);
  if (existing) {
    if (bits & O_EXCL) throw failed('EEXIST', path);
    if (bits & O_DIRECTORY && existing.kind === 'file') throw failed('ENOTDIR', path);
    if (existing.kind === 'folder' && bits & (O_CREAT | O_TRUNC)) throw failed('EISDIR', path);
    if (existing.kind === 'file' && bits & O_TRUNC) await disk().change(() => existing.truncate(0, now()));
    return new SimulatedHandle(path, existing, bits);
  }
  if (!(bits & O_CREAT)) throw failed('ENOENT', path);
  disk().folder(dirname(path));
  const made = await disk().change(() => {
    const other = disk().find(path);
    if (other && bits & O_EXCL) throw failed('EEXIST', path);
    if (other) return other;
    const file = new MemoryFile();
    file.changedAt = now();
    if (mode !== undefined) file.mode = mode;
    disk().put(path, file);
    return file;
  });
  return new SimulatedHandle(path, made, bits);
}

/** A file of the program itself. */
function realHandle(path: string, flags: Flags): SimulatedHandle {
  const file = new MemoryFile();
  file.content = real.readFileSync(path);
  return new SimulatedHandle(path, file, flagsOf(flags));
}

export async function stat(path: string) {
  const own = simulated(path);
  return own === undefined ? real.statSync(path) : factsOf(disk().get(own));
}

export const lstat = stat;

export async function access(path: string): Promise<void> {
  await stat(path);
}

export async function realpath(path: string): Promise<string> {
  const own = simulated(path);
  if (own === undefined) return real.realpathSync(path);
  disk().get(own);
  return own;
}

export async function readlink(path: string): Promise<string> {
  const own = simulated(path);
  if (own === undefined) return real.readlinkSync(path);
  if (opened.test(path)) return own;
  disk().get(own);
  throw failed('EINVAL', path);
}

type ReadOptions = BufferEncoding | { encoding?: BufferEncoding | null } | null;

export async function readFile(path: string, options?: ReadOptions): Promise<Buffer | string> {
  const encoding = typeof options === 'string' ? options : options?.encoding;
  const own = simulated(path);
  const bytes = own === undefined ? real.readFileSync(path) : Buffer.from(disk().file(own).content);
  return encoding ? bytes.toString(encoding) : bytes;
}

export async function writeFile(
  path: string,
  data: Data,
  options?: BufferEncoding | { flag?: string; mode?: number },
): Promise<void> {
  const { flag = 'w', mode } = typeof options === 'string' ? {} : (options ?? {});
  const file = await open(path, flag, mode);
  await file.writeFile(data);
  await file.close();
}

export async function appendFile(path: string, data: Data): Promise<void> {
  await writeFile(path, data, { flag: 'a' });
}

interface FolderOptions {
  readonly recursive?: boolean;
  readonly mode?: number;
}

export async function mkdir(given: string, options?: FolderOptions | number): Promise<string | undefined> {
  const path = pathOf(given);
  const isRecursive = typeof options === 'object' && options.recursive === true;
  const existing = disk().find(path);
  if (existing && (!isRecursive || existing.kind === 'file')) throw failed('EEXIST', path);
  if (existing) return undefined;
  const made: string[] = [];
  for (let at = path; !disk().find(at); at = dirname(at)) made.unshift(at);
  if (made.length > 1 && !isRecursive) throw failed('ENOENT', path);
  await disk().change(() => {
    for (const each of made) if (!disk().find(each)) disk().put(each, new MemoryFolder());
  });
  return made[0];
}

/** A name is not used again within a schedule. */
export async function mkdtemp(prefix: string): Promise<string> {
  const path = `${prefix}${simulation().kernel.chance.between(1e6, 1e7)}`;
  await mkdir(path);
  return path;
}

export async function readdir(
  given: string,
  { withFileTypes = false, recursive = false }: { withFileTypes?: boolean; recursive?: boolean } = {},
): Promise<unknown[]> {
  const path = simulated(given);
  if (path === undefined) return real.readdirSync(given, { withFileTypes, recursive } as { withFileTypes: false });
  const found: unknown[] = [];
  const look = (folder: MemoryFolder, parentPath: string) => {
    for (const [name, entry] of [...folder.entries].sort(([one], [other]) => (one < other ? -1 : 1))) {
      found.push(withFileTypes ? { ...factsOf(entry), name, parentPath } : relative(path, join(parentPath, name)));
      if (recursive && entry.kind === 'folder') look(entry, join(parentPath, name));
    }
  };
  look(disk().folder(path), path);
  return found;
}

/** Opens a folder, to read its entries one by one. */
export async function opendir(path: string) {
  const entries = await readdir(path, { withFileTypes: true });
  return {
    path,
    read: async () => entries.shift() ?? null,
    close: async () => undefined,
    async *[Symbol.asyncIterator]() {
      yield* entries;
    },
  };
}

export async function rename(from: string, to: string): Promise<void> {
  const [before, after] = [pathOf(from), pathOf(to)];
  disk().get(before);
  await disk().change(() => disk().move(before, after));
}

export async function unlink(given: string): Promise<void> {
  const path = pathOf(given);
  disk().file(path);
  await disk().change(() => disk().remove(path));
}

export async function rmdir(given: string): Promise<void> {
  const path = pathOf(given);
  if (disk().folder(path).entries.size > 0) throw failed('ENOTEMPTY', path);
  await disk().change(() => disk().remove(path));
}

/** A folder is emptied entry by entry: each is a place at which the process may end. */
export async function rm(given: string, { recursive = false, force = false }: { recursive?: boolean; force?: boolean } = {}) {
  const path = pathOf(given);
  const entry = disk().find(path);
  if (!entry && force) return;
  if (!entry) throw failed('ENOENT', path);
  if (entry.kind === 'folder') {
    if (!recursive) throw failed('EISDIR', path);
    for (const name of [...entry.entries.keys()]) await rm(join(path, name), { recursive, force: true });
  }
  await disk().change(() => {
    if (disk().find(path) === entry) disk().remove(path);
  });
}

export async function copyFile(from: string, to: string): Promise<void> {
  const content = await readFile(from);
  await writeFile(to, content);
}

export async function cp(from: string, to: string, options?: { recursive?: boolean }): Promise<void> {
  if (disk().get(pathOf(from)).kind === 'file') return copyFile(from, to);
  await mkdir(to, { recursive: true });
  for (const name of (await readdir(from)) as string[]) await cp(join(from, name), join(to, name), options);
}

/** Two names of one file. */
export async function link(from: string, to: string): Promise<void> {
  const file = disk().file(pathOf(from));
  const path = pathOf(to);
  if (disk().find(path)) throw failed('EEXIST', path);
  await disk().change(() => disk().put(path, file));
}

export async function symlink(_target: string, path: string): Promise<void> {
  throw failed('EPERM', path);
}

export async function chmod(): Promise<void> {}

export async function utimes(): Promise<void> {}

/** Reports that there is always room. */
export async function statfs() {
  return { bavail: 1e9, bfree: 1e9, blocks: 2e9, bsize: 4096, type: 0 };
}
