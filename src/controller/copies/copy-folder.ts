/**
 * The copy of one node's files on disk.
 *
 * Theory of operation. `files` holds the files, `hashes` the hashes of their blocks, and `copy.json` what the copy is of. An update is
 * collected in `incoming`: files that are new or mostly changed as a whole, of others the changed blocks. When all of it is on disk, the folder
 * is renamed to `complete`: from then on the update counts. It is then merged into the files, block by block; a `complete` that is found
 * is merged again, from its begin, with the same result. So a copy takes the space of its files, and an update that broke off leaves the copy
 * before it.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { syncFolder, writeFileAtomic } from '../../lib/atomic-file.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { list, object, text, whole } from '../../lib/shape.ts';
import { type CopiedFile, copyBlockBytes, copyHashBytes } from '../../schema/node-copy.ts';

export interface CopyFacts {
  /** Time at which the copy was up to date, ISO 8601. */
  readonly copied_at: string;
  readonly files: readonly CopiedFile[];
}

/** File of an update, stored in `incoming` under its number. */
interface ChangedFile extends CopiedFile {
  /** Blocks in its data, in this order; undefined: its data are the file. */
  readonly blocks?: readonly number[];
}

const facts = object({ copied_at: text, files: list(object({ path: text, size: whole(0), sum: text })) });

export class CopyFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Undefined: there is none. An update that was complete is merged first. @throws errors of the system */
  async read(): Promise<CopyFacts | undefined> {
    await this.#merge();
    const value: unknown = await readFile(join(this.path, 'copy.json'), 'utf8').then(JSON.parse, () => undefined);
    return facts.problem(value, 'the copy') === undefined ? (value as CopyFacts) : undefined;
  }

  file(path: string): string {
    return join(this.path, 'files', path);
  }

  /** Reads the hashes of a file's blocks; empty: the file has none, or does not exist. */
  async hashes({ path, size }: Pick<CopiedFile, 'path' | 'size'>): Promise<Buffer> {
    const found = await readFile(this.#hashesOf(path)).catch(() => Buffer.alloc(0));
    return found.length === copyHashBytes * Math.ceil(size / copyBlockBytes) ? found : Buffer.alloc(0);
  }

  /** Begins an update; what is left of another one goes. */
  async begin(): Promise<CopyUpdate> {
    const incoming = join(this.path, 'incoming');
    await removeTree(incoming);
    await mkdir(incoming, { recursive: true });
    return new CopyUpdate(incoming, async (update) => {
      await writeFileAtomic(join(incoming, 'update.json'), JSON.stringify(update));
      await rename(incoming, join(this.path, 'complete'));
      await syncFolder(this.path);
    });
  }

  async remove(): Promise<void> {
    // A copy that is half removed must not be taken for one.
    const removed = `${this.path}.${randomUUID()}`;
    await rename(this.path, removed).catch(() => undefined);
    await removeTree(removed);
  }

  #hashesOf(path: string): string {
    return join(this.path, 'hashes', path);
  }

  async #merge(): Promise<void> {
    const complete = join(this.path, 'complete');
    const text = await readFile(join(complete, 'update.json'), 'utf8').catch(() => undefined);
    // An update without its list was being removed when the server ended.
    if (text === undefined) return removeTree(complete);
    const { copy, changed } = JSON.parse(text) as { copy: CopyFacts; changed: readonly ChangedFile[] };
    // First: there may be a folder now where a file was.
    await this.#removeOthers(new Set(copy.files.map(({ path }) => path)));
    for (const [number, file] of changed.entries()) {
      const data = join(complete, `${number}.data`);
      if (file.blocks) await mergeBlocks(data, this.file(file.path), { ...file, blocks: file.blocks });
      else await moveTo(data, this.file(file.path));
      await moveTo(join(complete, `${number}.hashes`), this.#hashesOf(file.path));
    }
    await writeFileAtomic(join(this.path, 'copy.json'), JSON.stringify(copy));
    await rm(join(complete, 'update.json'), { force: true });
    await removeTree(complete);
  }

  async #removeOthers(wanted: ReadonlySet<string>): Promise<void> {
    for (const top of ['files', 'hashes']) {
      const folder = join(this.path, top);
      const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        const path = join(entry.parentPath, entry.name);
        if (!entry.isDirectory() && !wanted.has(relative(folder, path))) await rm(path, { force: true });
      }
    }
  }
}

/** Collects what has changed. */
export class CopyUpdate {
  readonly #folder: string;
  readonly #commit: (update: { copy: CopyFacts; changed: readonly ChangedFile[] }) => Promise<void>;
  readonly #changed: ChangedFile[] = [];

  constructor(folder: string, commit: (update: { copy: CopyFacts; changed: readonly ChangedFile[] }) => Promise<void>) {
    this.#folder = folder;
    this.#commit = commit;
  }

  /** `write`: the data of the file, or its blocks one after the other. */
  async add(file: ChangedFile, hashes: Buffer, write: (data: FileHandle) => Promise<void>): Promise<void> {
    const number = this.#changed.push(file) - 1;
    await this.#write(`${number}.data`, write);
    await this.#write(`${number}.hashes`, (handle) => handle.writeFile(hashes));
  }

  /** Makes the update count: from now on `read` merges it. */
  complete(copy: CopyFacts): Promise<void> {
    return this.#commit({ copy, changed: this.#changed });
  }

  /** No effect once it is complete. */
  discard(): Promise<void> {
    return removeTree(this.#folder);
  }

  async #write(name: string, write: (handle: FileHandle) => Promise<void>): Promise<void> {
    const handle = await open(join(this.#folder, name), 'wx');
    try {
      await write(handle);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

async function mergeBlocks(data: string, file: string, { blocks, size }: Required<ChangedFile>): Promise<void> {
  const [source, target] = await Promise.all([open(data, 'r'), open(file, 'r+')]);
  try {
    for (const [index, block] of blocks.entries()) {
      const length = Math.min(copyBlockBytes, size - block * copyBlockBytes);
      const { buffer } = await source.read(Buffer.alloc(length), 0, length, index * copyBlockBytes);
      await target.write(buffer, 0, length, block * copyBlockBytes);
    }
    await target.truncate(size);
    await target.sync();
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
}

/** Done already where there is no source. */
async function moveTo(source: string, target: string): Promise<void> {
  if ((await stat(source).catch(() => undefined)) === undefined) return;
  await mkdir(dirname(target), { recursive: true });
  await removeTree(target);
  await rename(source, target);
  await syncFolder(dirname(target));
}
