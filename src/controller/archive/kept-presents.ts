/**
 * Keeps the present of a project before a rewind, so that undo can restore it: files, and the memory of what runs. Each is a folder
 * that grows under another name and gets its own when it is complete. None is in the list of snapshots, in a copy or in an archive.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { syncFolder, writeFileAtomic } from '../../lib/atomic-file.ts';
import { DiskFloor } from '../../lib/disk-floor.ts';
import { sizeOfCopy } from '../../lib/folder-size.ts';
import { stagingPrefix } from '../../schema/folders.ts';
import type { Computes } from '../computes/computes.ts';
import type { LiveProject } from '../live/live-project.ts';
import { isAlwaysRunning } from '../live/nodes/node-runs.ts';
import { keptPresentPath, listKept } from '../log/kept-presents.ts';
import type { LogRecord } from '../log/records.ts';
import { keptBy, stepsOf } from '../log/steps.ts';
import { topologyText } from '../model/topology-text.ts';
import type { KnownProject } from '../projects/project.ts';
import type { StagingFolders } from '../projects/staging-folders.ts';
import { projectEntry } from '../zip/archive-entries.ts';
import { captureFolder, collectFiles } from './collect.ts';
import { completeMemory, type ReadyMemory, readMemory, recordOf } from './snapshot-memory.ts';

export interface KeptPresentsOptions {
  readonly computes: Computes;
  readonly staging: StagingFolders;
  readonly version: string;
  /** Bytes of the disk that must stay free. */
  readonly floorBytes: number;
}

/** Presents that are kept of a project, the last ones that undo and redo lead to. */
const mostKept = 3;

export class KeptPresents {
  readonly #options: KeptPresentsOptions;

  constructor(options: KeptPresentsOptions) {
    this.#options = options;
  }

  /** Keeps the present of an open project whose gate is held. Answers its id. @throws present_without_room, present_not_kept */
  async keep(project: KnownProject, live: LiveProject): Promise<string> {
    const id = randomUUID();
    const { name } = project;
    try {
      await this.#options.staging.use(join(project.path, `${stagingPrefix}present-${id}`), async (path) => {
        await this.#requireRoom(project, path);
        await this.#fill(project, live, path);
        const place = keptPresentPath(project.path, id);
        await mkdir(dirname(place), { recursive: true, mode: 0o711 });
        await rename(path, place);
        await syncFolder(dirname(place));
      });
      return id;
    } catch (error) {
      const reason = (error as Error).message;
      const isFull = isFault(error, 'disk_floor') || (error as NodeJS.ErrnoException).code === 'ENOSPC';
      throw isFull
        ? fault('present_without_room', { name, reason })
        : fault('present_not_kept', { name, reason }, { cause: error });
    }
  }

  /** Finds the folder with the files of a kept present, and the memory that was kept with them. @throws undo_conflict */
  async find(
    project: KnownProject,
    id: string | null,
  ): Promise<{ readonly source: string; readonly memory: ReadyMemory | undefined }> {
    if (id === null || !(await listKept(project.path)).has(id))
      throw fault('undo_conflict', { reason: 'the state before the rewind is not kept any more' });
    const place = keptPresentPath(project.path, id);
    return { source: filesIn(place), memory: await readMemory(memoryIn(place)) };
  }

  /** Removes the presents to which no undo or redo leads, and all but the last ones. */
  async sweep(project: KnownProject, records: readonly LogRecord[]): Promise<void> {
    const kept = await listKept(project.path);
    if (kept.size === 0) return;
    const { undo, redo } = stepsOf(records, kept);
    const steps = [...undo, ...redo].toSorted((one, other) => other.id - one.id);
    const reachable = new Set(steps.flatMap((step) => keptBy(step) ?? []).slice(0, mostKept));
    for (const id of kept) {
      if (reachable.has(id)) continue;
      await this.#options.staging.use(join(project.path, `${stagingPrefix}past-${id}`), (gone) =>
        rename(keptPresentPath(project.path, id), join(gone, id)),
      );
    }
  }

  async #fill(project: KnownProject, live: LiveProject, path: string): Promise<void> {
    const { computes, version } = this.#options;
    const isRunning = [...live.nodes.all()].some((node) => node.live.status !== 'stopped' && !isAlwaysRunning(node));
    const files = filesIn(path);
    await mkdir(files);
    const memoryPath = isRunning ? memoryIn(path) : undefined;
    if (memoryPath !== undefined) await mkdir(memoryPath);
    const frozen = { topology: live.topology(), live };
    const report = await collectFiles({ source: project, frozen, computes, withSnapshots: false, memoryPath }, files);
    await writeFileAtomic(join(files, projectEntry), await topologyText(frozen.topology, version));
    if (report && memoryPath !== undefined)
      await completeMemory({ project, computes, path: memoryPath, record: recordOf(frozen, report) });
  }

  async #requireRoom({ path }: KnownProject, target: string): Promise<void> {
    const files = join(path, 'project-files');
    let bytes = 0;
    for (const { name } of (await readdir(files, { withFileTypes: true }).catch(() => [])).filter((entry) => entry.isDirectory()))
      if (name !== captureFolder) bytes += await sizeOfCopy(join(files, name), target);
    await new DiskFloor([path], this.#options.floorBytes).check(bytes);
  }
}

/** The files of a kept present, as those of a snapshot. */
function filesIn(place: string): string {
  return join(place, 'files');
}

function memoryIn(place: string): string {
  return join(place, 'memory');
}
