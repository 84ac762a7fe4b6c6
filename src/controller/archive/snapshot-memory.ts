/**
 * The memory of machines beside snapshots: `.memory/<snapshot id>/` in the project's folder, which no copy and no archive takes
 * along. It grows in a staging folder and gets its place when it is complete: there is all of it, or none.
 */
import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { problemsOf } from '../../api/validate.ts';
import { syncFolder, writeFileAtomic } from '../../lib/atomic-file.ts';
import { sizeOnDisk } from '../../lib/folder-size.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { Uuid } from '../../schema/common.ts';
import { memoryFolder, stagingPrefix } from '../../schema/folders.ts';
import { type Snapshot, SnapshotMemory } from '../../schema/snapshot.ts';
import { type Static, Type } from '../../schema/type.ts';
import type { Computes } from '../computes/computes.ts';
import { findKind } from '../model/node.ts';
import type { FreezeReport } from '../projects/copy-files.ts';
import type { KnownProject } from '../projects/project.ts';
import type { FrozenProject } from '../projects/project-environment.ts';
import type { StagingFolders } from '../projects/staging-folders.ts';

const recordName = 'memory.json';
const largestRecord = 1 << 22;

/** Metadata stored beside a snapshot's memory. */
const MemoryRecord = Type.Object({
  memory: SnapshotMemory,
  started: Type.Array(Uuid),
  /** Milliseconds since 1970. Undefined in records of earlier versions. */
  frozen_at: Type.Optional(Type.Integer()),
});
export type MemoryRecord = Static<typeof MemoryRecord>;

/** A frozen project whose memory is still being written. */
export interface Frozen {
  readonly snapshot: Snapshot;
  readonly record: MemoryRecord;
}

/** Complete memory, with its folder. */
export type ReadyMemory = MemoryRecord & { readonly path: string };

export interface SnapshotMemoryParts {
  readonly computes: Computes;
  readonly staging: StagingFolders;
}

export class SnapshotMemories {
  readonly #parts: SnapshotMemoryParts;
  /** Memories that are being saved, by snapshot. `done` settles when the memory is in place, or has been given up. */
  readonly #saving = new Map<
    string,
    { readonly snapshot: Snapshot; readonly memory: SnapshotMemory; readonly done: Promise<void> }
  >();
  /** Errors of failed saves by snapshot, kept until the snapshot or its project is deleted. */
  readonly #failures = new WeakMap<KnownProject, Map<string, string>>();

  constructor(parts: SnapshotMemoryParts) {
    this.#parts = parts;
  }

  /**
   * `freeze` is given the folder that the compute fills and answers when the lab runs again; so does this. Listeners are sent
   * `snapshot.updated` when the memory is complete. @throws what `freeze` throws; nothing is left then
   */
  async save(project: KnownProject, snapshotId: string, freeze: (memoryPath: string) => Promise<Frozen>): Promise<Snapshot> {
    const answered = Promise.withResolvers<Frozen>();
    const staged = join(project.path, `${stagingPrefix}memory-${snapshotId}`);
    const done = project.whileThere(() =>
      this.#parts.staging.use(staged, async (path) => {
        const frozen = await freeze(path);
        answered.resolve(frozen);
        await this.#complete(project, { ...frozen, path });
      }),
    );
    done.catch(answered.reject);
    const { snapshot, record } = await answered.promise;
    const ended = done
      .catch((error: Error) => this.#failed(project, { snapshot, record }, error))
      .finally(() => this.#saving.delete(snapshotId));
    this.#saving.set(snapshotId, { snapshot, memory: record.memory, done: ended });
    return { ...snapshot, memory: record.memory };
  }

  /** Describes the memory of a snapshot, also while it is being saved; undefined when there is none. */
  async describe(project: KnownProject, snapshotId: string): Promise<SnapshotMemory | undefined> {
    return this.#saving.get(snapshotId)?.memory ?? (await readMemory(this.pathOf(project, snapshotId)))?.memory;
  }

  /**
   * The complete memory, once it is; undefined when there is none. `what` is to be done to the snapshot.
   * @throws snapshot_failed when the memory was being saved, or is required, and could not be saved by this server
   */
  async find(
    project: KnownProject,
    { snapshot_id: snapshotId, name }: Snapshot,
    { what, isRequired }: { readonly what: 'restored' | 'forked'; readonly isRequired: boolean },
  ): Promise<ReadyMemory | undefined> {
    const saving = this.#saving.get(snapshotId);
    await saving?.done;
    const failure = saving || isRequired ? this.#failures.get(project)?.get(snapshotId) : undefined;
    if (failure !== undefined)
      throw fault('snapshot_failed', { name, what, reason: `the memory of its machines could not be saved: ${failure}` });
    return readMemory(this.pathOf(project, snapshotId));
  }

  /** Waits for running saves. */
  async settle(snapshotId: string): Promise<void> {
    await this.#saving.get(snapshotId)?.done;
  }

  /** The snapshot was deleted. */
  forget(project: KnownProject, snapshotId: string): void {
    this.#failures.get(project)?.delete(snapshotId);
  }

  /** Waits for the checkpoint of a project that is being saved. */
  async settleCheckpoint(projectId: string): Promise<void> {
    const saving = [...this.#saving.values()].filter(({ snapshot }) => snapshot.checkpoint && snapshot.project_id === projectId);
    await Promise.all(saving.map(({ done }) => done));
  }

  /** Waits for every memory of a project that is being saved. */
  async settleProject(projectId: string): Promise<void> {
    const saving = [...this.#saving.values()].filter(({ snapshot }) => snapshot.project_id === projectId);
    await Promise.all(saving.map(({ done }) => done));
  }

  pathOf(project: KnownProject, snapshotId: string): string {
    return join(project.path, memoryFolder, snapshotId);
  }

  async #complete(project: KnownProject, { snapshot, record, path }: Frozen & { path: string }): Promise<void> {
    const memory = await completeMemory({ project, computes: this.#parts.computes, path, record });
    const place = this.pathOf(project, snapshot.snapshot_id);
    await mkdir(dirname(place), { recursive: true, mode: 0o711 });
    await rename(path, place);
    await syncFolder(dirname(place));
    this.#saving.delete(snapshot.snapshot_id);
    project.notices.emit({ action: 'snapshot.updated', event: { ...snapshot, memory } });
  }

  #failed(project: KnownProject, { snapshot, record }: Frozen, error: Error): void {
    const failures = this.#failures.get(project) ?? new Map<string, string>();
    this.#failures.set(project, failures.set(snapshot.snapshot_id, error.message));
    const message = `The memory of the snapshot "${snapshot.name}" could not be saved, its files were: ${error.message}`;
    project.notices.emit({ action: 'log.error', event: { message } });
    const memory: SnapshotMemory = { ...record.memory, status: 'failed', bytes: 0, nodes: [] };
    project.notices.emit({ action: 'snapshot.updated', event: { ...snapshot, memory } });
  }
}

interface MemoryToComplete {
  readonly project: KnownProject;
  readonly computes: Computes;
  /** The folder that the local compute fills. */
  readonly path: string;
  readonly record: MemoryRecord;
}

/** Waits for the memory of a frozen project, and writes its record. @throws why it could not be saved */
export async function completeMemory({ project, computes, path, record }: MemoryToComplete): Promise<SnapshotMemory> {
  const { transport } = computes.local;
  await transport.send('POST /v2/compute/projects/{project_id}/freeze/wait', { path: { project_id: project.id }, timeoutMs: 0 });
  const memory: SnapshotMemory = { ...record.memory, status: 'ready', bytes: await sizeOnDisk(path) };
  await writeFileAtomic(join(path, recordName), JSON.stringify({ ...record, memory }), 0o600);
  return memory;
}

/** Reads the record of complete memory; undefined when there is none. */
export async function readMemory(path: string): Promise<ReadyMemory | undefined> {
  const text = await readRegularFile(join(path, recordName), largestRecord).catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const record: unknown = JSON.parse(String(text));
    return (await problemsOf(MemoryRecord, record)) === undefined ? { ...(record as MemoryRecord), path } : undefined;
  } catch {
    return undefined;
  }
}

/** The nodes that ran when the project was frozen, and which of them continue. */
export function recordOf({ topology, live }: FrozenProject, report: FreezeReport): MemoryRecord {
  const kept = new Set(report.memory.map(({ node_id }) => node_id));
  const known = new Set([...kept, ...report.cold.map(({ node_id }) => node_id)]);
  const running = topology.nodes.filter(({ node_id, node_type }) => {
    const status = live?.nodes.find(node_id)?.live.status;
    return kept.has(node_id) || (status === 'started' && !findKind(node_type)?.alwaysRunning);
  });
  const elsewhere = running
    .filter(({ node_id }) => !known.has(node_id))
    .map(({ node_id, name }) => ({ node_id, name, reason: 'it runs on another compute' }));
  const { paused_ms, skew_ms } = report;
  const bytes = report.memory.reduce((sum, node) => sum + node.bytes, 0);
  const cold = [...report.cold, ...elsewhere];
  return {
    memory: { status: 'saving', bytes, paused_ms, skew_ms, nodes: [...kept], cold },
    started: running.map(({ node_id }) => node_id),
    frozen_at: report.frozen_at,
  };
}
