/**
 * The checkpoints of one open project. What cannot be taken when it is due is skipped until the next time; nothing waits for it.
 * The newest checkpoint on disk says when the next one is due, so that a server that starts again continues the schedule.
 */
import { isDeepStrictEqual } from 'node:util';
import { fault, isFault } from '../../api/faults.ts';
import type { Limit } from '../../lib/bounded.ts';
import { sumOf } from '../../lib/folder-size.ts';
import type { CheckpointSkipped, CheckpointsUpdated } from '../../schema/checkpoint.ts';
import type { Snapshot } from '../../schema/snapshot.ts';
import type { LiveProject } from '../live/live-project.ts';
import { findKind } from '../model/node.ts';
import type { KnownProject } from '../projects/project.ts';
import type { CheckpointParts } from './checkpoints.ts';
import type { Snapshots } from './snapshots.ts';

export interface ScheduleSettings {
  readonly minutes: number;
  readonly mostBytes: number;
}

interface ScheduleParts extends CheckpointParts {
  readonly turns: Limit;
}

/** The shortest interval, and the time that a project has after its opening until its nodes run again. Milliseconds. */
const leastMs = 6_000;

export class CheckpointSchedule {
  readonly #project: KnownProject;
  readonly #settings: ScheduleSettings;
  readonly #parts: ScheduleParts;
  #timer: NodeJS.Timeout | undefined;
  #nextAt: number | null = null;
  #skipped: CheckpointSkipped | null = null;
  /** Something of the project was changed since the last checkpoint. */
  #isChanged = true;
  #isEnded = false;
  /** Bytes of a checkpoint that alone exceeded the bound: another one would as well. */
  #tooLarge: number | undefined;
  readonly #unsubscribe: () => void;

  constructor(project: KnownProject, settings: ScheduleSettings, parts: ScheduleParts) {
    this.#project = project;
    this.#settings = settings;
    this.#parts = parts;
    this.#unsubscribe = project.notices.subscribe(({ action }) => {
      if (/^(?:node|link|drawing)\.(?:created|updated|deleted)$/.test(action)) this.#isChanged = true;
    });
  }

  /** `nextAt`: seconds since 1970. */
  get state(): { readonly nextAt: number | null; readonly skipped: CheckpointSkipped | null } {
    return { nextAt: this.#nextAt, skipped: this.#skipped };
  }

  isOf(project: KnownProject, settings: ScheduleSettings | undefined): boolean {
    return project === this.#project && isDeepStrictEqual(settings, this.#settings);
  }

  begin(): void {
    // The recovery takes a turn, so that no checkpoint is being taken meanwhile.
    void this.#parts.turns.run(() => this.#recover()).then((lastAt) => this.#arm(lastAt + this.#intervalMs));
  }

  end(): void {
    this.#isEnded = true;
    this.#nextAt = null;
    clearTimeout(this.#timer);
    this.#unsubscribe();
  }

  /** @throws why it is not taken: checkpoint_skipped, freeze_busy, disk_floor, snapshot_failed, project_closed */
  async take(): Promise<Snapshot> {
    clearTimeout(this.#timer);
    let taken: Snapshot | undefined;
    try {
      taken = await this.#parts.turns.run(() => this.#save());
      this.#skipped = null;
      return taken;
    } catch (error) {
      this.#isChanged = true;
      this.#skip(error as Error);
      throw error;
    } finally {
      this.#arm(Date.now() + this.#intervalMs);
      this.#notify(taken);
    }
  }

  get #intervalMs(): number {
    return Math.max(this.#settings.minutes * 60_000, leastMs);
  }

  /**
   * Removes checkpoints that a killed server left incomplete. @returns when the last checkpoint was taken: milliseconds since 1970
   */
  async #recover(): Promise<number> {
    const { snapshots, log } = this.#parts;
    try {
      const all = (await snapshots.list(this.#project)).filter(({ checkpoint }) => checkpoint);
      for (const { snapshot_id } of all.filter(({ memory }) => !memory)) await snapshots.delete(this.#project, snapshot_id);
      await this.#removeOldest();
      return (all.findLast(({ memory }) => memory)?.created_at ?? Date.now() / 1000) * 1000;
    } catch (error) {
      if (!this.#isEnded) log.warn({ err: error }, `the checkpoints of "${this.#project.name}" could not be read`);
      return Date.now();
    }
  }

  #arm(at: number): void {
    if (this.#isEnded) return;
    clearTimeout(this.#timer);
    const waitMs = Math.max(at - Date.now(), leastMs);
    this.#nextAt = Math.round((Date.now() + waitMs) / 1000);
    // Why it was skipped has been announced.
    this.#timer = setTimeout(() => void this.take().catch(() => undefined), waitMs).unref();
  }

  async #save(): Promise<Snapshot> {
    const project = this.#project;
    const skipped = (reason: string) => fault('checkpoint_skipped', { name: project.name, reason });
    if (this.#isEnded || !project.liveNow) throw fault('project_closed', { name: project.name });
    const reason = this.#reasonAgainst(project.liveNow);
    if (reason !== undefined) throw skipped(reason);
    this.#isChanged = false;
    const { snapshots } = this.#parts;
    const { snapshot_id } = await snapshots.create(project, { name: nameNow(), memory: true, archive: false, checkpoint: true });
    await snapshots.memories.settle(snapshot_id);
    const snapshot = (await snapshots.list(project)).find((each) => each.snapshot_id === snapshot_id);
    if (!snapshot) throw skipped('it was deleted at once');
    if (!snapshot.memory) {
      await snapshots.delete(project, snapshot_id);
      throw skipped('the memory of its machines could not be saved');
    }
    const removed = await this.#removeOldest();
    if (!removed.has(snapshot_id)) return snapshot;
    this.#tooLarge = removed.get(snapshot_id);
    throw skipped(tooLarge(this.#tooLarge));
  }

  #removeOldest(): Promise<ReadonlyMap<string, number>> {
    return removeOldest(this.#parts.snapshots, this.#project, this.#settings.mostBytes);
  }

  #reasonAgainst({ nodes }: LiveProject): string | undefined {
    if (this.#tooLarge !== undefined) return tooLarge(this.#tooLarge);
    // A checkpoint would block all changes until the move is complete.
    if ([...nodes.all()].some(({ isMoving }) => isMoving)) return 'a machine is being moved to another compute';
    const states = [...nodes.all()]
      .filter(({ entry, live: { status } }) => status !== 'stopped' && findKind(entry.node_type)?.alwaysRunning !== true)
      .map(({ live: { status } }) => status);
    if (states.length === 0) return 'no node runs';
    // Paused machines stay as they are.
    return states.includes('started') || this.#isChanged ? undefined : 'nothing has changed since the last one';
  }

  #skip(error: Error): void {
    const { message: reason } = error;
    const isNew = this.#skipped?.reason !== reason;
    this.#skipped = { at: Math.trunc(Date.now() / 1000), reason };
    if (this.#isEnded || !isNew || isFault(error, 'checkpoint_skipped')) return;
    this.#parts.log.warn({ err: error }, `no checkpoint of "${this.#project.name}" was taken`);
    this.#project.notices.emit({ action: 'log.warning', event: { message: `No checkpoint was taken: ${reason}` } });
  }

  #notify(taken: Snapshot | undefined): void {
    const { id: project_id, notices } = this.#project;
    const { nextAt: next_at, skipped } = this.state;
    const event: CheckpointsUpdated = { project_id, next_at, skipped, taken: taken?.snapshot_id ?? null };
    notices.emit({ action: 'checkpoints.updated', event });
  }
}

const tooLarge = (bytes = 0) => `one takes ${Math.ceil(bytes / 2 ** 20)} MiB, more than checkpoint_bytes allows for all of them`;

/** UTC, without characters that a file name cannot hold. */
function nameNow(): string {
  return `checkpoint ${new Date().toISOString().slice(0, -1).replaceAll(':', '.').replace('T', ' ')}`;
}

/** Limit that keeps the list of snapshots far below its own size limit (`snapshot-index.ts`). */
const mostCheckpoints = 200;

/**
 * Removes the oldest checkpoints beyond the limit. Snapshots of users are never removed.
 * @returns bytes on disk of the removed checkpoints, by id. @throws storage_failed, snapshot_failed
 */
async function removeOldest(snapshots: Snapshots, project: KnownProject, mostBytes: number): Promise<ReadonlyMap<string, number>> {
  const all = (await snapshots.list(project)).filter(({ checkpoint }) => checkpoint);
  const counted = new Set<string>();
  let total = 0;
  const removed = new Map<string, number>();
  for (const [age, snapshot] of all.reverse().entries()) {
    const files = await snapshots.filesOf(project, snapshot);
    for (const [file, bytes] of files) {
      if (!counted.has(file)) total += bytes;
      counted.add(file);
    }
    const isOver = removed.size > 0 || age >= mostCheckpoints || total > mostBytes;
    if (isOver) removed.set(snapshot.snapshot_id, sumOf(files));
  }
  // The oldest first: a server that dies in between leaves the newest.
  for (const snapshotId of [...removed.keys()].reverse()) {
    // A checkpoint that is being forked is kept until the next run.
    if (snapshots.uses.has(snapshotId)) removed.delete(snapshotId);
    else await snapshots.delete(project, snapshotId);
  }
  return removed;
}
