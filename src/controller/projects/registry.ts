/**
 * Registry of the projects that were made or loaded here, and of those in the projects folder. The former are durable, with whether they
 * were open when the server ended. Files that cannot be read are reported and left alone; their projects are listed all the same.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { DurableMap } from '../../lib/durable-map.ts';
import type { Log } from '../../lib/log.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { isUuid } from '../../schema/common.ts';
import { type ForkedFrom, projectDefaults } from '../../schema/project.ts';
import { type ProjectState, readListed } from '../log/project-state.ts';
import { canonical } from '../model/canonical.ts';
import { readProjectEntry } from '../model/read-topology.ts';
import type { ProjectEntry } from '../model/topology.ts';

export interface RegistryEntry {
  readonly path: string;
  readonly filename: string;
  /** Whether the project is open, or was when the server ended. */
  readonly opened: boolean;
  readonly forked_from?: ForkedFrom;
  /** The project as it was made, until its files are known to be durable. */
  readonly unsettled?: ProjectEntry;
  /** The project is deleted; its files may be left (`project-removals.ts`). */
  readonly deleted?: true;
}
/** A project that was found, with what is listed of it. */
interface FoundProject extends RegistryEntry {
  readonly project: ProjectState['project'];
}

/** Projects on the disk, by id: readable projects, and projects whose file or log is damaged. */
interface Discovered {
  readonly found: Map<string, FoundProject>;
  readonly damaged: Map<string, FoundProject>;
}

/** Folders of the projects folder that are being made or removed; not projects. */
export const stagingPrefix = '.patchbay-';
/** Files read at once when projects are looked for. */
const readers = 16;

export class Registry {
  readonly #map: DurableMap<RegistryEntry>;
  /** Ids of projects that were not made after all, and whose record could not be deleted. */
  readonly #discarded = new Set<string>();
  readonly #projectsPath: string;
  readonly #log: Log;

  private constructor(map: DurableMap<RegistryEntry>, projectsPath: string, log: Log) {
    this.#map = map;
    this.#projectsPath = projectsPath;
    this.#log = log;
  }

  static async open(stateDirectory: string, projectsPath: string, log: Log): Promise<Registry> {
    await mkdir(stateDirectory, { recursive: true });
    await mkdir(projectsPath, { recursive: true });
    const map = await DurableMap.open<RegistryEntry>(join(stateDirectory, 'projects.log'), (message) => log.error(message));
    return new Registry(map, projectsPath, log);
  }

  get(projectId: string): RegistryEntry | undefined {
    const entry = this.#discarded.has(projectId) ? undefined : this.#map.get(projectId);
    return entry?.deleted ? undefined : entry;
  }

  async set(projectId: string, entry: RegistryEntry): Promise<void> {
    // The mark is removed before the entry is written: a deletion that comes later would delete this record.
    const wasDiscarded = this.#discarded.delete(projectId);
    try {
      await this.#map.set(projectId, entry);
    } catch (error) {
      if (wasDiscarded) this.#discarded.add(projectId);
      throw error;
    }
    await this.#deleteDiscarded();
  }

  /** Stores an entry whose `opened` differs from the known one. @throws storage_failed */
  async setOpened(projectId: string, entry: RegistryEntry): Promise<void> {
    const known = this.get(projectId);
    if (known?.opened === entry.opened) return;
    try {
      await this.#map.set(projectId, { ...known, ...entry });
    } catch (error) {
      throw fault('storage_failed', { reason: (error as Error).message }, { cause: error });
    }
  }

  /** Known projects by id. */
  entries(): Iterable<readonly [string, RegistryEntry]> {
    return [...this.#map.entries()].filter(([id, { deleted }]) => !this.#discarded.has(id) && !deleted);
  }

  /** Deleted projects whose files may be left, by id. */
  deletions(): Iterable<readonly [string, RegistryEntry]> {
    return [...this.#map.entries()].filter(([, { deleted }]) => deleted);
  }

  /** Resolves when the deletion is on disk: no start lists the project again. */
  recordDeletion(projectId: string, { path, filename }: Pick<RegistryEntry, 'path' | 'filename'>): Promise<void> {
    return this.#map.set(projectId, { path, filename, opened: false, deleted: true });
  }

  /** Gives the record of a deletion another path, as its own may be another project's by now; a new project of the same id stays. */
  async moveDeletion(projectId: string, path: string): Promise<void> {
    const entry = this.#map.get(projectId);
    if (entry?.deleted) await this.#map.set(projectId, { ...entry, path });
  }

  /** Drops the record of a deletion whose files are gone; that of a new project of the same id stays. */
  async dropDeletion(projectId: string): Promise<void> {
    if (this.#map.get(projectId)?.deleted) await this.#map.delete(projectId);
  }

  /** The files of the project are durable. */
  async settle(projectId: string): Promise<void> {
    const { unsettled, ...settled } = this.#map.get(projectId) ?? {};
    if (unsettled) await this.#map.set(projectId, settled as RegistryEntry);
  }

  delete(projectId: string): Promise<void> {
    return this.#map.delete(projectId);
  }

  /** Deletes the record of a project that was not made after all. What the disk refuses is tried again with the next record, and at the end. Never rejects. */
  async discard(projectId: string): Promise<void> {
    this.#discarded.add(projectId);
    await this.#deleteDiscarded();
  }

  async close(): Promise<void> {
    await this.#deleteDiscarded();
    await this.#map.close();
  }

  async #deleteDiscarded(): Promise<void> {
    for (const id of this.#discarded) {
      await this.#map.delete(id).then(
        () => this.#discarded.delete(id),
        (error: unknown) =>
          this.#log.error({ err: error }, `the record of the project ${id}, which was not made, could not be deleted`),
      );
    }
  }

  /**
   * Every project that can be read, each id once; a known place wins over a found one. `isStart`: nothing is being made or deleted, so
   * what an interrupted deletion left is removed.
   */
  async discover({ isStart }: { isStart: boolean }): Promise<Discovered> {
    const places = new Map<string, RegistryEntry>();
    for (const [, entry] of this.entries()) places.set(fileOf(entry), { ...entry, filename: entry.filename.toWellFormed() });
    const deleted = new Set(Array.from(this.deletions(), ([, { path }]) => path));
    for (const file of await this.#filesOfFolder(isStart)) {
      if (!places.has(file) && !deleted.has(dirname(file)))
        places.set(file, { path: dirname(file), filename: basename(file), opened: false });
    }
    const discovered: Discovered = { found: new Map(), damaged: new Map() };
    const unreadable: [string, RegistryEntry][] = [];
    const waiting = [...places];
    const read = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        if (!(await this.#read(next[0], next[1], discovered))) unreadable.push(next);
      }
    };
    await Promise.all(Array.from({ length: readers }, read));
    for (const [file, entry] of unreadable) await this.#listDamaged(file, entry, discovered);
    return discovered;
  }

  /** False when file or log cannot be read. */
  async #read(file: string, entry: RegistryEntry, { found }: Discovered): Promise<boolean> {
    try {
      const project = await readListed(file);
      const known = this.get(project.project_id);
      if (known && fileOf(known) !== file) throw new Error(`its id ${project.project_id} is that of ${known.path}`);
      const other = found.get(project.project_id);
      if (other) throw new Error(`its id ${project.project_id} is that of ${other.path}`);
      found.set(project.project_id, { ...entry, project });
    } catch (error) {
      const isDamaged = isFault(error) && (await isThere(entry.path));
      const what = isDamaged ? 'cannot be opened' : 'was left out';
      this.#log.warn({ err: error, file }, `project ${file} ${what}: ${(error as Error).message}`);
      return !isDamaged;
    }
    return true;
  }

  /** Lists damaged projects after the others, so that an id that one of them has is not given to it. */
  async #listDamaged(file: string, entry: RegistryEntry, { found, damaged }: Discovered): Promise<void> {
    const known = [...this.entries()].find(([, place]) => fileOf(place) === file)?.[0];
    const isTaken = (id: string) => found.has(id) || damaged.has(id) || this.#map.has(id);
    const project = await damagedEntry(file, known, isTaken);
    damaged.set(project.project_id, { ...entry, project });
  }

  async #filesOfFolder(isStart: boolean): Promise<string[]> {
    const files: string[] = [];
    for (const folder of await readdir(this.#projectsPath, { withFileTypes: true })) {
      const path = join(this.#projectsPath, folder.name);
      if (folder.name.startsWith(stagingPrefix)) {
        if (isStart) await removeTree(path).catch(() => undefined);
      } else if (folder.isDirectory() || folder.isSymbolicLink()) {
        const names = await readdir(path).catch(() => []);
        files.push(...names.filter((name) => name.endsWith('.gns3')).map((name) => join(path, name)));
      }
    }
    return files;
  }
}

/** Path of a project's file. Names on the disk have no lone surrogates, which earlier versions took in names of projects. */
function fileOf({ path, filename }: RegistryEntry): string {
  return join(path, filename.toWellFormed());
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/**
 * Reads the entry of a project whose log cannot be read: clients see it closed, and opening it reports the damage. A file that cannot be
 * read gives only its name, with the id under which the server knows the project. A project that was never registered has the id that
 * names its folder, or one made of its path, which stays the same.
 */
async function damagedEntry(file: string, knownId: string | undefined, isTaken: (id: string) => boolean): Promise<ProjectEntry> {
  const entry = await readProjectEntry(file).catch(() => undefined);
  if (entry && (entry.project_id === knownId || (knownId === undefined && !isTaken(entry.project_id)))) return entry;
  const ofFolder = basename(dirname(file));
  const isFree = isUuid(ofFolder) && !isTaken(ofFolder);
  const project_id = knownId ?? (isFree ? ofFolder : idOf(file));
  const name = basename(file).replace(/\.gns3$/, '') || project_id;
  return canonical({ ...projectDefaults, name, project_id });
}

function idOf(path: string): string {
  const hash = createHash('sha256').update(path).digest('hex');
  return [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20, 32)].join('-');
}
