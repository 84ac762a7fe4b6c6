/**
 * Snapshots of open projects: taken while machines run, and restored as a whole or not at all (ADR 13). A snapshot is a folder that
 * holds what an archive of the project would: the project file, and the files of nodes and drawings.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { lstat, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fault, isFault } from '../../api/faults.ts';
import { syncFolder, writeFileAtomic } from '../../lib/atomic-file.ts';
import { filesOnDisk } from '../../lib/folder-size.ts';
import { KeyedMutex } from '../../lib/mutex.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import type { Undone } from '../../schema/history.ts';
import type { Project as ProjectObject } from '../../schema/project.ts';
import type { Snapshot, SnapshotCreate, SnapshotRestore } from '../../schema/snapshot.ts';
import type { Computes } from '../computes/computes.ts';
import type { RewindStep, UndoDirection } from '../live/history/project-undo.ts';
import type { Topology } from '../model/topology.ts';
import { topologyText } from '../model/topology-text.ts';
import type { KnownProject } from '../projects/project.ts';
import { fileNameProblem } from '../projects/project-path.ts';
import { stagingPrefix } from '../projects/registry.ts';
import type { Restores } from '../projects/snapshot-restores.ts';
import type { StagingFolders } from '../projects/staging-folders.ts';
import { projectEntry } from '../zip/archive-entries.ts';
import { archiveFolder } from '../zip/write-archive.ts';
import { collectFiles } from './collect.ts';
import { Rewinds } from './rewinds.ts';
import { describe, readSnapshots, snapshotSuffix, snapshotsFolder, writeSnapshots } from './snapshot-index.ts';
import { type Frozen, type MemoryRecord, recordOf, SnapshotMemories } from './snapshot-memory.ts';

export interface SnapshotsOptions {
  readonly computes: Computes;
  readonly staging: StagingFolders;
  readonly restores: Restores;
  readonly version: string;
  /** Bytes of the disk that must stay free. */
  readonly floorBytes: number;
  /** Whether a snapshot is an archive where its request does not say so. */
  readonly asArchives: boolean;
}

export interface SnapshotWanted extends SnapshotCreate {
  readonly checkpoint?: true;
}

interface NewSnapshot extends Omit<SnapshotWanted, 'memory' | 'archive'> {
  readonly filename: string;
  readonly snapshotId: string;
  /** Existing folder for the memory of machines. */
  readonly memoryPath: string | undefined;
  readonly archive: boolean;
  readonly onTaken: OnTaken | undefined;
}

/** Called with the content of a snapshot. */
type OnTaken = (topology: Topology) => void;

export class Snapshots {
  readonly #options: SnapshotsOptions;
  /** Serialises changes to the snapshots of a project. */
  readonly #locks = new KeyedMutex();
  readonly memories: SnapshotMemories;
  /** Counts by snapshot id how many forks are being made from it. */
  readonly uses = new UseCounts();

  readonly #rewinds: Rewinds;

  constructor(options: SnapshotsOptions) {
    this.#options = options;
    this.memories = new SnapshotMemories(options);
    this.#rewinds = new Rewinds({ ...options, memories: this.memories });
  }

  /** Lists the snapshots of an open or closed project. @throws snapshots_damaged */
  list(project: KnownProject): Promise<Snapshot[]> {
    return this.#alone(project, async () => {
      const all = await readSnapshots(project.path, project.id);
      return Promise.all(all.map((snapshot) => this.#withMemory(project, snapshot)));
    });
  }

  /**
   * Takes a snapshot. With `memory` it answers when the machines run again.
   */
  create(
    project: KnownProject,
    { memory = false, archive = this.#options.asArchives, ...wanted }: SnapshotWanted,
    onTaken?: OnTaken,
  ): Promise<Snapshot> {
    const filename = snapshotFileName(wanted.name);
    const snapshotId = randomUUID();
    const take = (memoryPath?: string) => this.#add(project, { ...wanted, filename, snapshotId, memoryPath, archive, onTaken });
    if (!memory) return this.#alone(project, async () => (await take()).snapshot);
    // The project's folder stays until the memory is complete; other snapshots can be taken as soon as the machines run again.
    const freeze = async (path: string) => {
      // The client knows nothing of a checkpoint that is being saved.
      if (!wanted.checkpoint) await this.memories.settleCheckpoint(project.id);
      return take(path);
    };
    return this.memories.save(project, snapshotId, (path) => this.#locks.run(project.id, () => freeze(path)));
  }

  /** @throws project_closed, snapshot_not_found */
  find(project: KnownProject, snapshotId: string): Promise<Snapshot> {
    return this.#alone(project, async () => find(await readSnapshots(project.path, project.id), snapshotId));
  }

  /** No schedule deletes it from now on. @throws snapshot_not_found, storage_failed */
  keepCheckpoint(project: KnownProject, snapshotId: string): Promise<Snapshot> {
    return this.#alone(project, async () => {
      const all = await readSnapshots(project.path, project.id);
      const { checkpoint, ...kept } = find(all, snapshotId);
      if (checkpoint) {
        const entries = all.map((each) => (each.snapshot_id === kept.snapshot_id ? kept : each));
        await writeSnapshots(project.path, entries);
      }
      const event = await this.#withMemory(project, kept);
      if (checkpoint) project.notices.emit({ action: 'snapshot.updated', event });
      return event;
    });
  }

  /** Settles when the files are removed; `onUnlisted` is called when the snapshot is not listed any more. @throws project_closed, snapshot_not_found */
  delete(project: KnownProject, snapshotId: string, onUnlisted?: () => void): Promise<void> {
    return this.#alone(project, async () => {
      await project.live();
      await this.#remove(project, find(await readSnapshots(project.path, project.id), snapshotId), onUnlisted);
    });
  }

  /** Deletes what is left of a snapshot that was taken for a fork: the fork may have its files. `onUnlisted`: as of `delete`. */
  discard(project: KnownProject, snapshot: Snapshot, onUnlisted: () => void): Promise<void> {
    return this.#alone(project, () => this.#remove(project, snapshot, onUnlisted));
  }

  /** Makes the project what a snapshot holds: see `Rewinds.run`. @throws project_closed, snapshot_not_found, snapshot_failed, memory_refused */
  restore(
    project: KnownProject,
    snapshotId: string,
    { memory = true, keep_present = true }: SnapshotRestore = {},
  ): Promise<Readonly<ProjectObject>> {
    return this.#alone(project, async () => {
      await project.live();
      const snapshot = find(await readSnapshots(project.path, project.id), snapshotId);
      const saved = memory ? await this.memories.find(project, snapshot, { what: 'restored', isRequired: true }) : undefined;
      const source = join(snapshotsFolder(project.path), snapshot.filename);
      await this.#rewinds.run(project, { name: snapshot.name, source, memory: saved, keeps: keep_present });
      project.notices.emit({ action: 'snapshot.restored', event: await this.#withMemory(project, snapshot) });
      return project.object;
    });
  }

  /** Undoes or redoes a rewind. @throws project_closed, undo_conflict, snapshot_failed, disk_floor; nothing has changed then */
  revertRewind(project: KnownProject, direction: UndoDirection, rewind: RewindStep): Promise<Undone> {
    return this.#alone(project, () => this.#rewinds.revert(project, direction, rewind));
  }

  /** Measures the files of a snapshot and of its memory on disk, in bytes by file. */
  async filesOf(project: KnownProject, { filename, snapshot_id }: Snapshot): Promise<Map<string, number>> {
    const places = [join(snapshotsFolder(project.path), filename), this.memories.pathOf(project, snapshot_id)];
    const sizes = await Promise.all(places.map(filesOnDisk));
    return new Map(sizes.flatMap((files) => [...files]));
  }

  /** Runs what works with the snapshots of a project, which stays there meanwhile. */
  #alone<T>(project: KnownProject, fn: () => Promise<T>): Promise<T> {
    return this.#locks.run(project.id, () => project.whileThere(fn));
  }

  async #add(project: KnownProject, { name, description, filename, snapshotId, checkpoint, ...how }: NewSnapshot): Promise<Frozen> {
    await project.live();
    const others = await readSnapshots(project.path, project.id);
    const folder = join(snapshotsFolder(project.path), filename);
    if (others.some((other) => other.name === name) || (await exists(folder))) throw fault('snapshot_name_taken', { name });
    const { createdAt, record } = await this.#take(project, folder, how).catch((error: unknown) => {
      throw failure(name, 'taken', error);
    });
    const snapshot: Snapshot = {
      created_at: createdAt,
      description: description || describe(name, createdAt),
      filename,
      name,
      project_id: project.id,
      snapshot_id: snapshotId,
      ...(checkpoint && { checkpoint }),
    };
    await writeSnapshots(project.path, [...others, snapshot]).catch(async (error: unknown) => {
      await removeTree(folder);
      throw error;
    });
    return { snapshot, record };
  }

  async #remove(project: KnownProject, { snapshot_id: id, filename, name }: Snapshot, onUnlisted?: () => void): Promise<void> {
    const folder = snapshotsFolder(project.path);
    await this.memories.settle(id);
    // The files are moved away first, so that a half removed snapshot is not found again.
    await this.#options.staging
      .use(join(folder, `${stagingPrefix}${id}`), async (gone) => {
        await rename(this.memories.pathOf(project, id), join(gone, 'memory')).catch(unlessMissing);
        await rename(join(folder, filename), join(gone, 'snapshot')).catch(unlessMissing);
        const all = await readSnapshots(project.path, project.id);
        await writeSnapshots(
          project.path,
          all.filter((each) => each.snapshot_id !== id),
        );
        this.memories.forget(project, id);
        onUnlisted?.();
      })
      .catch((error: unknown) => {
        throw failure(name, 'deleted', error);
      });
  }

  async #withMemory(project: KnownProject, snapshot: Snapshot): Promise<Snapshot> {
    const memory = await this.memories.describe(project, snapshot.snapshot_id);
    return memory ? { ...snapshot, memory } : snapshot;
  }

  /** `createdAt`: seconds since 1970 of the instant that it shows. */
  async #take(
    project: KnownProject,
    target: string,
    { memoryPath, archive, onTaken }: Pick<NewSnapshot, 'memoryPath' | 'archive' | 'onTaken'>,
  ): Promise<{ createdAt: number; record: MemoryRecord }> {
    const { computes, staging, version } = this.#options;
    return staging.use(join(snapshotsFolder(project.path), `${stagingPrefix}${randomUUID()}`), async (stagingPath) => {
      const taken = await project.freeze(async (frozen) => {
        if (!frozen.live) throw fault('project_closed', { name: project.name });
        const report = await collectFiles({ source: project, frozen, computes, withSnapshots: false, memoryPath }, stagingPath);
        await writeFileAtomic(join(stagingPath, projectEntry), await topologyText(frozen.topology, version));
        onTaken?.(frozen.topology);
        return { createdAt: Math.trunc(Date.now() / 1000), record: recordOf(frozen, report ?? unfrozen) };
      });
      if (archive) await this.#pack(stagingPath, target);
      else await rename(stagingPath, target);
      await syncFolder(snapshotsFolder(project.path));
      return taken;
    });
  }

  /** The archive is written beside its place and then renamed, so that it is complete or absent. */
  #pack(folder: string, target: string): Promise<void> {
    return this.#options.staging.use(`${folder}-packed`, async (staging) => {
      const { output } = await archiveFolder(folder, new Map(), { compression: { method: 'none' } });
      const file = join(staging, projectEntry);
      await pipeline(output, createWriteStream(file, { flush: true }));
      await rename(file, target);
    });
  }
}

const unfrozen = { paused_ms: 0, skew_ms: 0, frozen_at: 0, memory: [], cold: [] };

/** @throws snapshot_name_invalid */
function snapshotFileName(name: string): string {
  const reason = name.startsWith('.') ? 'it begins with a dot' : fileNameProblem(name);
  if (reason !== undefined) throw fault('snapshot_name_invalid', { reason });
  return `${name}${snapshotSuffix}`;
}

/** @throws snapshot_not_found */
function find(all: readonly Snapshot[], snapshotId: string): Snapshot {
  const snapshot = all.find((each) => each.snapshot_id === snapshotId.toLowerCase());
  if (!snapshot) throw fault('snapshot_not_found', { snapshot_id: snapshotId });
  return snapshot;
}

function failure(name: string, what: string, error: unknown): unknown {
  if (isFault(error)) return error;
  return fault('snapshot_failed', { name, what, reason: (error as Error).message }, { cause: error });
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}

/** Counts the users of things by key, so that nothing in use is removed. */
class UseCounts {
  readonly #counts = new Map<string, number>();

  async during<T>(key: string, fn: () => Promise<T>): Promise<T> {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    try {
      return await fn();
    } finally {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    }
  }

  has(key: string): boolean {
    return this.#counts.has(key);
  }
}
