/**
 * Checkpoints: snapshots with memory that the server takes of an open project while its nodes run, every `checkpoint_minutes`. Each
 * project that wants them has a schedule of its own, from its opening to its end.
 */
import { fault } from '../../api/faults.ts';
import { Limit } from '../../lib/bounded.ts';
import { sumOf } from '../../lib/folder-size.ts';
import type { Log } from '../../lib/log.ts';
import type { CheckpointStatus } from '../../schema/checkpoint.ts';
import type { Snapshot } from '../../schema/snapshot.ts';
import type { KnownProject } from '../projects/project.ts';
import { CheckpointSchedule, type ScheduleSettings } from './checkpoint-schedule.ts';
import type { Snapshots } from './snapshots.ts';

export interface CheckpointParts {
  readonly snapshots: Snapshots;
  readonly log: Log;
}

export class Checkpoints {
  readonly #parts: CheckpointParts;
  readonly #schedules = new Map<string, CheckpointSchedule>();
  /** A freeze takes the memory of its machines once more: of all projects, one at a time. */
  readonly #turns = new Limit(1);
  #isClosed = false;

  constructor(parts: CheckpointParts) {
    this.#parts = parts;
  }

  /** A project was opened, closed, changed or deleted: begins or ends its schedule. */
  follow(project: KnownProject): void {
    const wanted = this.#isClosed ? undefined : settingsOf(project);
    const schedule = this.#schedules.get(project.id);
    if (schedule?.isOf(project, wanted)) return;
    schedule?.end();
    this.#schedules.delete(project.id);
    if (!wanted) return;
    const next = new CheckpointSchedule(project, wanted, { ...this.#parts, turns: this.#turns });
    this.#schedules.set(project.id, next);
    next.begin();
  }

  /** @throws snapshots_damaged */
  async describe(project: KnownProject): Promise<CheckpointStatus> {
    const { snapshots } = this.#parts;
    const all = await snapshots.list(project);
    const ofCheckpoints = new Map<string, number>();
    const sizes: { snapshot_id: string; bytes: number }[] = [];
    for (const snapshot of all) {
      const files = await snapshots.filesOf(project, snapshot);
      sizes.push({ snapshot_id: snapshot.snapshot_id, bytes: sumOf(files) });
      if (snapshot.checkpoint) for (const [file, bytes] of files) ofCheckpoints.set(file, bytes);
    }
    const { nextAt = null, skipped = null } = this.#schedules.get(project.id)?.state ?? {};
    return { next_at: nextAt, skipped, bytes: sumOf(ofCheckpoints), sizes };
  }

  /** Answers when it is complete. @throws project_closed, checkpoint_skipped, freeze_busy, disk_floor, snapshot_failed */
  async take(project: KnownProject): Promise<Snapshot> {
    await project.live();
    const schedule = this.#schedules.get(project.id);
    if (!schedule) throw fault('checkpoint_skipped', { name: project.name, reason: 'they are off. Set checkpoint_minutes' });
    return schedule.take();
  }

  /** The server ends; the next one continues the schedules. */
  close(): void {
    this.#isClosed = true;
    for (const schedule of this.#schedules.values()) schedule.end();
    this.#schedules.clear();
  }
}

function settingsOf({ isOpen, entry }: KnownProject): ScheduleSettings | undefined {
  const { checkpoint_bytes: mostBytes, checkpoint_minutes: minutes } = entry;
  return isOpen && minutes > 0 ? { minutes, mostBytes } : undefined;
}
