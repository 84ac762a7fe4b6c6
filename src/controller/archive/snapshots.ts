/**
 * Snapshots of open projects: taken while machines run, and restored as a whole or not at all (ADR 13). A snapshot is a folder that
 * holds what an archive of the project would: the project file, and the files of nodes and drawings.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { cp, lstat, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fault, isFault } from '../../api/faults.ts';
import { syncFolder, writeFileAtomic } from '../../lib/atomic-file.ts';
import { Journal } from '../../lib/journal.ts';
import { KeyedMutex } from '../../lib/mutex.ts';
import type { Project as ProjectObject } from '../../schema/project.ts';
import type { Snapshot, SnapshotCreate } from '../../schema/snapshot.ts';
import type { Computes } from '../computes/computes.ts';
import { announceRemoved, partsOf } from '../live/snapshot-changes.ts';
import { logPath } from '../log/project-state.ts';
import type { LogLine, RecordOf } from '../log/records.ts';
import { canonical } from '../model/canonical.ts';
import type { ProjectEntry } from '../model/topology.ts';
import { topologyText } from '../model/topology-text.ts';
import { copyOptions } from '../projects/copy-files.ts';
import { forgetElsewhere } from '../projects/forget-on-computes.ts';
import type { KnownProject } from '../projects/project.ts';
import { fileNameProblem } from '../projects/project-path.ts';
import { stagingPrefix } from '../projects/registry.ts';
import type { Restores } from '../projects/snapshot-restores.ts';
import type { StagingFolders } from '../projects/staging-folders.ts';
import { projectEntry } from '../zip/archive-entries.ts';
import { extractArchive } from '../zip/extract.ts';
import { archiveFolder } from '../zip/write-archive.ts';
import { collectFiles } from './collect.ts';
import { readUpgraded } from './import.ts';
import { describe, readSnapshots, snapshotSuffix, snapshotsFolder, writeSnapshots } from './snapshot-index.ts';

export interface SnapshotsOptions {
  readonly computes: Computes;
  readonly staging: StagingFolders;
  readonly restores: Restores;
  readonly version: string;
  /** What is to stay free of the disk. */
  readonly floorBytes: number;
  /** Whether a snapshot is an archive where its request does not say so. */
  readonly asArchives: boolean;
}

export class Snapshots {
  readonly #options: SnapshotsOptions;
  /** One change at a time to the snapshots of a project. */
  readonly #locks = new KeyedMutex();

  constructor(options: SnapshotsOptions) {
    this.#options = options;
  }

  /** Of open and closed projects. @throws snapshots_damaged */
  list(project: KnownProject): Promise<Snapshot[]> {
    return this.#alone(project, () => readSnapshots(project.path, project.id));
  }

  /** @throws project_closed, snapshot_name_invalid, snapshot_name_taken, snapshot_failed */
  create(project: KnownProject, { name, description, archive = this.#options.asArchives }: SnapshotCreate): Promise<Snapshot> {
    const filename = snapshotFileName(name);
    return this.#alone(project, async () => {
      await project.live();
      const others = await readSnapshots(project.path, project.id);
      const folder = join(snapshotsFolder(project.path), filename);
      if (others.some((other) => other.name === name) || (await exists(folder))) throw fault('snapshot_name_taken', { name });
      const createdAt = await this.#take(project, folder, archive).catch((error: unknown) => {
        throw failure(name, 'taken', error);
      });
      const snapshot: Snapshot = {
        created_at: createdAt,
        description: description || describe(name, createdAt),
        filename,
        name,
        project_id: project.id,
        snapshot_id: randomUUID(),
      };
      await writeSnapshots(project.path, [...others, snapshot]).catch(async (error: unknown) => {
        await rm(folder, { recursive: true, force: true });
        throw error;
      });
      return snapshot;
    });
  }

  /** @throws project_closed, snapshot_not_found */
  delete(project: KnownProject, snapshotId: string): Promise<void> {
    return this.#alone(project, async () => {
      await project.live();
      const all = await readSnapshots(project.path, project.id);
      const { filename, name } = find(all, snapshotId);
      const folder = snapshotsFolder(project.path);
      // In one step: what is half removed must not be found again.
      await this.#options.staging
        .use(join(folder, `${stagingPrefix}${snapshotId}`), (gone) => rename(join(folder, filename), join(gone, 'snapshot')))
        .catch((error: unknown) => {
          throw failure(name, 'deleted', error);
        });
      await writeSnapshots(
        project.path,
        all.filter((each) => each.snapshot_id !== snapshotId),
      );
    });
  }

  /**
   * The project as it was, opened; its nodes are stopped. Its name, its id and when it opens and closes stay as they are.
   * @throws project_closed, snapshot_not_found, snapshot_failed; nothing has changed then
   */
  restore(project: KnownProject, snapshotId: string): Promise<Readonly<ProjectObject>> {
    return this.#alone(project, async () => {
      const live = await project.live();
      const snapshot = find(await readSnapshots(project.path, project.id), snapshotId);
      const { restores, computes } = this.#options;
      const fill = (staging: string) =>
        this.#fill(project, snapshot, staging).catch((error: unknown) => {
          throw failure(snapshot.name, 'restored', error);
        });
      const before = partsOf(live);
      const usedBefore = live.usedComputes();
      const restored = await restores.replace(project.path, fill, (staging, swap) =>
        project.replace(async () => {
          await startLog(join(staging, project.filename), live.seq + 1);
          await swap();
          await forgetElsewhere(project, computes, usedBefore);
        }),
      );
      announceRemoved(restored, before);
      project.notices.emit({ action: 'snapshot.restored', event: snapshot });
      return project.object;
    });
  }

  /** Runs what works with the snapshots of a project, which stays there meanwhile. */
  #alone<T>(project: KnownProject, fn: () => Promise<T>): Promise<T> {
    return this.#locks.run(project.id, () => project.whileThere(fn));
  }

  /** Seconds since 1970 of the instant that it shows. */
  async #take(project: KnownProject, target: string, isArchive: boolean): Promise<number> {
    const { computes, staging, version } = this.#options;
    return staging.use(join(snapshotsFolder(project.path), `${stagingPrefix}${randomUUID()}`), async (stagingPath) => {
      const createdAt = await project.freeze(async (frozen) => {
        if (!frozen.live) throw fault('project_closed', { name: project.name });
        await collectFiles({ source: project, frozen, computes, withSnapshots: false }, stagingPath);
        await writeFileAtomic(join(stagingPath, projectEntry), await topologyText(frozen.topology, version));
        return Math.trunc(Date.now() / 1000);
      });
      if (isArchive) await this.#pack(stagingPath, target);
      else await rename(stagingPath, target);
      await syncFolder(snapshotsFolder(project.path));
      return createdAt;
    });
  }

  /** Beside the folder that is packed, then renamed: an archive is there as a whole or not at all. */
  #pack(folder: string, target: string): Promise<void> {
    return this.#options.staging.use(`${folder}-packed`, async (staging) => {
      const { output } = await archiveFolder(folder, new Map(), { compress: false });
      const file = join(staging, projectEntry);
      await pipeline(output, createWriteStream(file, { flush: true }));
      await rename(file, target);
    });
  }

  async #fill(project: KnownProject, { filename }: Snapshot, staging: string): Promise<void> {
    const source = join(snapshotsFolder(project.path), filename);
    if ((await lstat(source)).isDirectory()) await cp(source, staging, copyOptions);
    else await extractArchive({ archive: source, folder: staging, floorBytes: this.#options.floorBytes });
    const topology = await readUpgraded(staging);
    const { auto_close, auto_open, auto_start, name, project_id } = project.entry;
    const entry = canonical<ProjectEntry>({ ...topology.project, auto_close, auto_open, auto_start, name, project_id });
    await rm(join(staging, projectEntry));
    await rm(join(staging, 'snapshots'), { recursive: true, force: true });
    await writeFileAtomic(
      join(staging, project.filename),
      await topologyText({ ...topology, project: entry }, this.#options.version),
    );
  }
}

/** Numbers of changes continue where they were: listeners compare them. */
async function startLog(file: string, seq: number): Promise<void> {
  const { journal } = await Journal.open<LogLine>(logPath(file));
  const head = { seq, at: new Date().toISOString(), by: null };
  const header: RecordOf<'project.snapshot'> = { ...head, action: 'project.snapshot', event: { udp_ports: {} }, was: null };
  await journal.append(header).finally(() => journal.close());
}

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
