/**
 * A disk in memory. What is written is seen at once, and is on the disk when it was synced: a loss of power keeps that, and a random part of
 * the rest. Changes of names are kept in the order in which they were made, up to one of them; a sync of a folder keeps all until then.
 */
import { dirname } from 'node:path';
import type { Chance } from '../../durability/random.ts';
import type { Kernel, Process } from './kernel.ts';

export class MemoryFile {
  readonly kind = 'file';
  content: Buffer = Buffer.alloc(0);
  synced: Buffer = Buffer.alloc(0);
  /** Changes since the last sync, in order: bytes at a place, or another length. */
  changes: { readonly at: number; readonly bytes?: Buffer }[] = [];
  changedAt = 0;
  mode = 0o644;

  write(at: number, bytes: Buffer, now: number): void {
    this.content = written(this.content, at, bytes);
    this.changes.push({ at, bytes: Buffer.from(bytes) });
    this.changedAt = now;
  }

  truncate(length: number, now: number): void {
    this.content = cut(this.content, length);
    this.changes.push({ at: length });
    this.changedAt = now;
  }

  sync(): void {
    this.synced = this.content;
    this.changes = [];
  }

  losePower(chance: Chance): void {
    let content = this.synced;
    const kept = chance.between(0, this.changes.length);
    for (const [index, { at, bytes }] of this.changes.slice(0, kept).entries()) {
      if (!bytes) content = cut(content, at);
      else content = written(content, at, index === kept - 1 ? bytes.subarray(0, chance.between(0, bytes.length)) : bytes);
    }
    this.content = content;
    this.sync();
  }
}

export class MemoryFolder {
  readonly kind = 'folder';
  entries = new Map<string, Entry>();
  synced = new Map<string, Entry>();
  readonly changedAt = 0;
  mode = 0o755;
}

export type Entry = MemoryFile | MemoryFolder;

interface NameChange {
  readonly folder: MemoryFolder;
  readonly name: string;
  /** Undefined: it has no such name any more. */
  readonly entry: Entry | undefined;
}

/** Something that a process has asked for and that was not done yet. */
interface Operation {
  readonly process: Process;
  readonly run: () => unknown;
}

export class Disk {
  readonly root = new MemoryFolder();
  readonly #kernel: Kernel;
  /** Changes of names that may not be on the disk yet. */
  #changes: (readonly NameChange[])[] = [];
  #pending: Operation[] = [];
  /** Paths of all that was ever opened. */
  readonly opened: string[] = [];
  /** Number of operations that were done. */
  operations = 0;
  /** Milliseconds that an operation takes; some schedules have a slow disk. */
  slowness = 1;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Does what changes something, after a while: a process that ends before has perhaps done it. `sync`: it is durable then. */
  change<T>(run: () => T, sync?: () => void): Promise<T> {
    const { chance, current } = this.#kernel;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const operation: Operation = { process: current, run };
    this.#pending.push(operation);
    const isLong = chance.next() < 0.02;
    const delay = (sync ? 1 : 0.05) * this.slowness * (0.5 + chance.next()) * (isLong ? 50 : 1);
    this.#kernel.after(delay, () => {
      this.#pending.splice(this.#pending.indexOf(operation), 1);
      this.operations += 1;
      try {
        const result = run();
        sync?.();
        resolve(result);
      } catch (error) {
        reject(error);
      }
    });
    return promise;
  }

  /** The process was killed: of what it had asked for a part was done. */
  killed(process: Process): void {
    const own = this.#pending.filter((operation) => operation.process === process);
    this.#pending = this.#pending.filter((operation) => operation.process !== process);
    const done = this.#kernel.chance.between(0, own.length);
    for (const { run } of own.slice(0, done)) {
      try {
        run();
      } catch {
        // No process waits for the operation.
      }
    }
  }

  losePower(): void {
    const { chance } = this.#kernel;
    const kept = chance.between(0, this.#changes.length);
    for (const changes of this.#changes.slice(0, kept)) store(changes);
    this.#changes = [];
    this.#pending = [];
    restore(this.root, chance);
  }

  /** @throws ENOENT, ENOTDIR */
  get(path: string): Entry {
    const found = this.find(path);
    if (!found) throw failed('ENOENT', path);
    return found;
  }

  find(path: string): Entry | undefined {
    let at: Entry = this.root;
    for (const name of namesOf(path)) {
      if (at.kind !== 'folder') throw failed('ENOTDIR', path);
      const next: Entry | undefined = at.entries.get(name);
      if (!next) return undefined;
      at = next;
    }
    return at;
  }

  /** @throws ENOENT, ENOTDIR */
  folder(path: string): MemoryFolder {
    const found = this.get(path);
    if (found.kind !== 'folder') throw failed('ENOTDIR', path);
    return found;
  }

  /** @throws ENOENT, EISDIR */
  file(path: string): MemoryFile {
    const found = this.get(path);
    if (found.kind !== 'file') throw failed('EISDIR', path);
    return found;
  }

  put(path: string, entry: Entry): void {
    this.#rename([{ folder: this.folder(dirname(path)), name: nameOf(path), entry }]);
  }

  remove(path: string): void {
    this.#rename([{ folder: this.folder(dirname(path)), name: nameOf(path), entry: undefined }]);
  }

  /** Renames a file or folder in one step. */
  move(from: string, to: string): void {
    const entry = this.get(from);
    const target = this.find(to);
    if (target?.kind === 'folder' && entry.kind === 'file') throw failed('EISDIR', to);
    if (target?.kind === 'file' && entry.kind === 'folder') throw failed('ENOTDIR', to);
    if (target?.kind === 'folder' && target.entries.size > 0) throw failed('ENOTEMPTY', to);
    this.#rename([
      { folder: this.folder(dirname(from)), name: nameOf(from), entry: undefined },
      { folder: this.folder(dirname(to)), name: nameOf(to), entry },
    ]);
  }

  /** Makes the names in a folder durable, and all changes of names before. */
  syncNames(folder: MemoryFolder): void {
    const last = this.#changes.findLastIndex((changes) => changes.some((change) => change.folder === folder));
    for (const changes of this.#changes.slice(0, last + 1)) store(changes);
    this.#changes = this.#changes.slice(last + 1);
  }

  #rename(changes: readonly NameChange[]): void {
    for (const { folder, name, entry } of changes) {
      if (entry) folder.entries.set(name, entry);
      else folder.entries.delete(name);
    }
    this.#changes.push(changes);
  }
}

function store(changes: readonly NameChange[]): void {
  for (const { folder, name, entry } of changes) {
    if (entry) folder.synced.set(name, entry);
    else folder.synced.delete(name);
  }
}

function restore(folder: MemoryFolder, chance: Chance): void {
  folder.entries = new Map(folder.synced);
  for (const entry of folder.entries.values()) {
    if (entry.kind === 'folder') restore(entry, chance);
    else entry.losePower(chance);
  }
}

function written(content: Buffer, at: number, bytes: Buffer): Buffer {
  if (at === content.length) return Buffer.concat([content, bytes]);
  const next = Buffer.alloc(Math.max(content.length, at + bytes.length));
  content.copy(next);
  bytes.copy(next, at);
  return next;
}

function cut(content: Buffer, length: number): Buffer {
  return length <= content.length ? content.subarray(0, length) : Buffer.concat([content, Buffer.alloc(length - content.length)]);
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function nameOf(path: string): string {
  return namesOf(path).at(-1) ?? '';
}

export function failed(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: '${path}'`), { code, path });
}
