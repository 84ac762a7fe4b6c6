/**
 * Writes a new project to the disk.
 *
 * Theory of operation. One sync makes a project durable: that of its record in the list of projects, which holds all of it. Its folder is
 * made at the same time, so that a disk that refuses it is an error of the request; the file is written when the request is answered. A
 * file in a folder that the client names is written before the record, and gets its name after it: it would have the folder refused to
 * the next request. The file and the names are synced before the project's log takes its first record (`settle`); then the record may
 * drop its copy. A start that finds a record with a copy, and no log, writes what is missing.
 */
import { lstat, mkdir, readdir, rename, rmdir, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { syncFile, syncFolder, writeFileAtomic } from '../../lib/atomic-file.ts';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import type { Log } from '../../lib/log.ts';
import { makeFolders } from '../../lib/make-folders.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { setAside } from '../../lib/set-aside.ts';
import { ProjectLog, storageFailed } from '../log/project-log.ts';
import { logPath } from '../log/project-state.ts';
import { readTopology } from '../model/read-topology.ts';
import type { ProjectEntry, Topology } from '../model/topology.ts';
import { topologyText } from '../model/topology-text.ts';
import type { ProjectPlace } from './project-environment.ts';
import type { Registry, RegistryEntry } from './registry.ts';

export interface NewPlace {
  readonly folder: string;
  readonly filename: string;
  /** The folder is made for the project alone. Otherwise the client names it, and it may exist. */
  readonly isOwn: boolean;
}

export class NewProjectFiles {
  readonly place: NewPlace;
  readonly #text: () => Promise<readonly Buffer[]>;
  /** Made so far, to be removed when the creation fails. */
  #made: readonly string[] = [];
  /** Folders above its own that had to be made, the innermost first. */
  #parents: readonly string[] = [];
  #begun: Promise<void> = Promise.resolve();

  private constructor(place: NewPlace, text: () => Promise<readonly Buffer[]>) {
    this.place = place;
    this.#text = text;
  }

  /**
   * Begins to make a folder of the project's own: `reveal` waits for it, and throws the same then. Writes the file into another one.
   * @throws `path_forbidden`, `project_path_taken`, `storage_failed`; nothing is left then
   */
  static async begin(place: NewPlace, entry: ProjectEntry, version: string): Promise<NewProjectFiles> {
    const files = new NewProjectFiles(place, () => topologyText(newTopology(entry), version));
    files.#begun = files.#begin();
    if (place.isOwn) files.#begun.catch(() => undefined);
    else await files.#begun;
    return files;
  }

  /** Resolves when the folder is where projects are looked for; one that the client names has the file then. */
  async reveal(): Promise<void> {
    await this.#begun;
    if (this.place.isOwn) return;
    await rename(this.#staged, this.#file);
    this.#made = this.#made.map((path) => (path === this.#staged ? this.#file : path));
  }

  /** Writes the file into a folder of the project's own, when the turn of the loop is over. */
  async complete(): Promise<void> {
    if (!this.place.isOwn) return;
    await new Promise(setImmediate);
    await writeFile(this.#file, await this.#text(), { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      // Another program has written one meanwhile.
      if (error.code !== 'EEXIST') throw error;
    });
  }

  /** Leaves folders that others use by now. */
  async remove(): Promise<void> {
    await this.#begun.catch(() => undefined);
    await this.#removeMade();
  }

  get #file(): string {
    return join(this.place.folder, this.place.filename);
  }

  get #staged(): string {
    return `${this.#file}.tmp`;
  }

  async #removeMade(): Promise<void> {
    for (const path of this.#made) await removeTree(path);
    for (const parent of this.#parents) await rmdir(parent).catch(() => undefined);
  }

  async #begin(): Promise<void> {
    const { isOwn, folder } = this.place;
    try {
      if (!isOwn) return await this.#writeInto(folder);
      const made = mkdir(folder).then(() => {
        this.#made = [folder];
      });
      const failed = (await Promise.allSettled([made, requireRoom(dirname(folder))])).find(({ status }) => status === 'rejected');
      if (failed) throw (failed as PromiseRejectedResult).reason;
    } catch (error) {
      await this.#removeMade();
      const { code } = error as NodeJS.ErrnoException;
      if (isFault(error) || code === undefined || !impossiblePath.has(code)) throw storageFailed(error);
      throw fault('path_forbidden', { path: folder, reason: (error as Error).message });
    }
  }

  async #writeInto(folder: string): Promise<void> {
    const outermost = await makeFolders(folder);
    if (outermost !== undefined) this.#made = [folder];
    if (outermost !== undefined) this.#parents = foldersUpTo(outermost, folder);
    if ((await readdir(folder)).some((name) => name.endsWith('.gns3'))) throw fault('project_path_taken', { path: folder });
    await ProjectLog.clear(this.#file);
    if (outermost === undefined) this.#made = [this.#staged, logPath(this.#file)];
    await removeTree(this.#staged);
    await writeFile(this.#staged, await this.#text(), { flag: 'wx' });
    const [parent, ...above] = this.#parents;
    if (parent !== undefined) await syncAll([...above, dirname(above.at(-1) ?? parent)]);
  }
}

export function newTopology(project: ProjectEntry): Topology {
  return { project, nodes: [], links: [], drawings: [], computes: [] };
}

/**
 * Makes the files of a new project durable, before anything in it is changed. The copy in its record is dropped meanwhile. A project file
 * that could not be written, or that another program removed, is written again.
 */
export async function settle(
  registry: Registry,
  { id, path, filename }: ProjectPlace & { readonly id: string },
  { version, isComplete = true }: { readonly version: string; readonly isComplete?: boolean },
): Promise<void> {
  const file = join(path, filename);
  const entry = registry.get(id)?.unsettled;
  const write = async () => entry && writeFileAtomic(file, await topologyText(newTopology(entry), version));
  const sync = () =>
    syncFile(file).catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' && entry ? write() : Promise.reject(error)));
  const settled = isComplete ? sync() : write();
  await Promise.all([settled, syncAll([path, dirname(path)])]);
  // A copy that is left beside a log does nothing.
  registry.settle(id).catch(() => undefined);
}

/**
 * Writes at the start what of new projects is missing on the disk. A file that cannot be written is reported, and tried again at the next
 * start.
 */
export async function recoverNew(registry: Registry, { version, log }: { version: string; log: Log }): Promise<void> {
  await forEachBounded([...registry.entries()], concurrency, async ([id, place]) => {
    if (!place.unsettled) return;
    const file = join(place.path, place.filename);
    try {
      const aside = await writeMissing(place, place.unsettled, version);
      if (aside !== undefined) log.warn({ file }, `${file} was incomplete and was written again. What was there is now ${aside}`);
      await settle(registry, { id, ...place }, { version });
    } catch (error) {
      log.error({ err: error }, `the project ${file} could not be written: ${(error as Error).message}`);
    }
  });
}

/** Returns where it put a file that is not the project's, or not all of it: another program may have written it. */
async function writeMissing({ path, filename }: RegistryEntry, entry: ProjectEntry, version: string): Promise<string | undefined> {
  const file = join(path, filename);
  // A log that has records is that of a settled project: the list was damaged.
  const log = await lstat(logPath(file)).catch(() => undefined);
  if (log && log.size > 0) return undefined;
  const isWritten = await readTopology(file).then(
    () => true,
    // No loss of power makes one of a newer version.
    (error: unknown) => isFault(error, 'project_newer'),
  );
  if (isWritten) return undefined;
  const outermost = await makeFolders(path);
  const found = await lstat(file).catch(() => undefined);
  const aside = found && (found.size > 0 || !found.isFile()) ? await setAside(file) : undefined;
  await writeFileAtomic(file, await topologyText(newTopology(entry), version));
  if (outermost !== undefined) await syncAll([...foldersUpTo(outermost, path), dirname(outermost)]);
  return aside;
}

async function syncAll(folders: readonly string[]): Promise<void> {
  await Promise.all(folders.map(syncFolder));
}

/** Lists the folders above `folder`, innermost first; `outermost` is the last one. */
function foldersUpTo(outermost: string, folder: string): string[] {
  if (folder === outermost) return [];
  const above = dirname(folder);
  return [above, ...foldersUpTo(outermost, above)];
}

/** Refuses a full disk: the file is written when the request is answered. */
async function requireRoom(folder: string): Promise<void> {
  const { bfree } = await statfs(folder);
  if (bfree === 0) throw Object.assign(new Error('no space is left on the disk'), { code: 'ENOSPC' });
}

const impossiblePath = new Set(['ENAMETOOLONG', 'ENOTDIR', 'ELOOP', 'EINVAL', 'EEXIST']);
