/**
 * Writes a new project to the disk.
 *
 * Theory of operation. One sync makes a project durable: that of its record in the list of projects, which holds all of it. Its file is
 * written at the same time, under a name at which no project is looked for, and then gets its own, so that a disk that refuses it is an
 * error of the request. A file in a folder that the client names is written before the record, and gets its name after it: it would
 * have the folder refused to the next request. The file and the names are synced before the project's log takes its first
 * record (`settle`); then the record may drop its copy. A start that finds a record with a copy, and no log, writes what is missing.
 */
import { lstat, mkdir, readdir, rename, rmdir, writeFile } from 'node:fs/promises';
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
  /** Where a folder of the project's own is made, which gets the name `folder`. Without it the file is put into `folder`, which may exist. */
  readonly stagingPath?: string;
}

export class NewProjectFiles {
  readonly place: NewPlace;
  /** File or folder that is renamed when the project has a record. */
  readonly #staged: { readonly from: string; readonly to: string };
  /** Made so far, to be removed when the creation fails. */
  #made: readonly string[] = [];
  /** Folders above its own that had to be made, the innermost first. */
  #parents: readonly string[] = [];
  #written: Promise<void> = Promise.resolve();

  private constructor(place: NewPlace) {
    this.place = place;
    const { folder, filename, stagingPath } = place;
    const file = join(folder, filename);
    this.#staged = stagingPath === undefined ? { from: `${file}.tmp`, to: file } : { from: stagingPath, to: folder };
  }

  /**
   * Writes the file, or begins to in a folder of the project's own: `reveal` waits for it and throws the same then.
   * @throws `path_forbidden`, `project_path_taken`, `storage_failed`; nothing is left then
   */
  static async write(place: NewPlace, entry: ProjectEntry, version: string): Promise<NewProjectFiles> {
    const files = new NewProjectFiles(place);
    files.#written = files.#write(() => topologyText(newTopology(entry), version));
    if (files.isInOwnFolder) files.#written.catch(() => undefined);
    else await files.#written;
    return files;
  }

  get isInOwnFolder(): boolean {
    return this.place.stagingPath !== undefined;
  }

  /** Gives the file its own name, under which it is found where projects are looked for. */
  async reveal(): Promise<void> {
    await this.#written;
    const { from, to } = this.#staged;
    await rename(from, to);
    this.#made = this.#made.map((path) => (path === from ? to : path));
  }

  /** Leaves folders that others use by now. */
  async remove(): Promise<void> {
    await this.#written.catch(() => undefined);
    await this.#removeMade();
  }

  async #removeMade(): Promise<void> {
    for (const path of this.#made) await removeTree(path);
    for (const parent of this.#parents) await rmdir(parent).catch(() => undefined);
  }

  async #write(text: () => Promise<readonly Buffer[]>): Promise<void> {
    const { stagingPath, folder } = this.place;
    try {
      await (stagingPath === undefined ? this.#writeInto(text) : this.#writeStaged(stagingPath, text));
    } catch (error) {
      await this.#removeMade();
      const { code } = error as NodeJS.ErrnoException;
      if (isFault(error) || code === undefined || !impossiblePath.has(code)) throw storageFailed(error);
      throw fault('path_forbidden', { path: folder, reason: (error as Error).message });
    }
  }

  async #writeStaged(stagingPath: string, text: () => Promise<readonly Buffer[]>): Promise<void> {
    const [, content] = await Promise.all([makeAnew(stagingPath), text()]);
    this.#made = [stagingPath];
    await writeFile(join(stagingPath, this.place.filename), content, { flag: 'wx' });
  }

  async #writeInto(text: () => Promise<readonly Buffer[]>): Promise<void> {
    const { folder } = this.place;
    const { from, to: file } = this.#staged;
    const outermost = await makeFolders(folder);
    if (outermost !== undefined) this.#made = [folder];
    if (outermost !== undefined) this.#parents = foldersUpTo(outermost, folder);
    if ((await readdir(folder)).some((name) => name.endsWith('.gns3'))) throw fault('project_path_taken', { path: folder });
    await ProjectLog.clear(file);
    if (outermost === undefined) this.#made = [from, logPath(file)];
    await removeTree(from);
    await writeFile(from, await text(), { flag: 'wx' });
    const [parent, ...above] = this.#parents;
    if (parent !== undefined) await syncAll([...above, dirname(above.at(-1) ?? parent)]);
  }
}

export function newTopology(project: ProjectEntry): Topology {
  return { project, nodes: [], links: [], drawings: [], computes: [] };
}

/**
 * Makes the files of a new project durable, before anything in it is changed. The copy in its record is dropped meanwhile. A project file
 * that another program removed is written again.
 */
export async function settle(
  registry: Registry,
  { id, path, filename }: ProjectPlace & { readonly id: string },
  version: string,
): Promise<void> {
  const file = join(path, filename);
  const entry = registry.get(id)?.unsettled;
  const settled = syncFile(file).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || !entry) throw error;
    await writeFileAtomic(file, await topologyText(newTopology(entry), version));
  });
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
      await settle(registry, { id, ...place }, version);
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

/** Makes an empty folder; removes any rest of a failed creation first. */
async function makeAnew(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await removeTree(folder);
    await mkdir(folder);
  }
}

const impossiblePath = new Set(['ENAMETOOLONG', 'ENOTDIR', 'ELOOP', 'EINVAL', 'EEXIST']);
