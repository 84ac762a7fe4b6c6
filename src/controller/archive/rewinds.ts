/**
 * Makes an open project what a snapshot, or a kept present, holds: as a whole or not at all. The present is kept first (ADR 54), and the
 * history continues with a step that names it, so that undo and redo restore it.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { findRequester } from '../../api/requester.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import type { Undone } from '../../schema/history.ts';
import type { RewindStep, UndoDirection } from '../live/history/project-undo.ts';
import type { LiveProject } from '../live/live-project.ts';
import { announceRemoved, partsOf } from '../live/snapshot-changes.ts';
import { beginLog } from '../log/begin-log.ts';
import type { LogRecord, Rewound } from '../log/records.ts';
import { canonical } from '../model/canonical.ts';
import type { ProjectEntry, Topology } from '../model/topology.ts';
import { topologyText } from '../model/topology-text.ts';
import { runningOf } from '../model/wanted.ts';
import { forgetElsewhere } from '../projects/forget-on-computes.ts';
import type { KnownProject } from '../projects/project.ts';
import { keptNoteName, type Restores } from '../projects/snapshot-restores.ts';
import { continueSchedules } from './continue-schedules.ts';
import { KeptPresents, type KeptPresentsOptions } from './kept-presents.ts';
import type { ReadyMemory, SnapshotMemories } from './snapshot-memory.ts';
import { stageMemory } from './stage-memory.ts';
import { unpackSnapshot } from './unpack-snapshot.ts';

interface RewindsOptions extends KeptPresentsOptions {
  readonly restores: Restores;
  readonly memories: SnapshotMemories;
}

interface Rewind {
  /** Name of the snapshot. */
  readonly name: string;
  /** Folder or archive with its files. */
  readonly source: string;
  readonly memory: ReadyMemory | undefined;
  /** Whether the present is kept. */
  readonly keeps: boolean;
  /** The step of the history that this reverts. */
  readonly inverts?: number;
  /** Called before anything is kept or stopped, while no change is under way. */
  readonly check?: (live: LiveProject) => Promise<void>;
}

export class Rewinds {
  readonly #options: RewindsOptions;
  readonly #presents: KeptPresents;

  constructor(options: RewindsOptions) {
    this.#options = options;
    this.#presents = new KeptPresents(options);
  }

  /**
   * The project is opened as it was. With memory, the nodes that ran run again, otherwise they are stopped. Its name, its id, its checkpoints
   * and when it opens and closes stay as they are.
   * @throws project_closed, snapshot_failed, memory_refused, present_without_room, present_not_kept; nothing has changed then
   */
  async run(project: KnownProject, rewind: Rewind): Promise<LiveProject> {
    const { restores, computes, memories } = this.#options;
    const live = await project.live();
    // Two freezes of a project do not go together.
    await memories.settleProject(project.id);
    const before = partsOf(live);
    const usedBefore = live.pastComputes();
    const fill = (staging: string) =>
      this.#fill(project, rewind, staging).catch((error: unknown) => {
        throw failure(rewind.name, error);
      });
    const restored = await restores.replace(project.path, fill, (staging, { commit, swap }) => {
      const begin = (now: LiveProject, kept: string | null, records: readonly LogRecord[]) => {
        const seq = now.seq + 1;
        const event: Rewound = { project_id: project.id, name: rewind.name, kept };
        const history = [...records, rewoundRecord(seq, event, rewind.inverts)];
        const wanted = runningOf(rewind.memory?.started ?? []);
        return beginLog(join(staging, project.filename), { seq, history, wanted, incarnation: seq });
      };
      let begun: Parameters<typeof begin> | undefined;
      return project.replace({
        beforeStop: async (now) => {
          await rewind.check?.(now);
          await now.writeSnapshot();
          const kept = rewind.keeps ? await this.#presents.keep(project, now) : null;
          if (kept !== null) await writeFile(join(staging, keptNoteName), kept);
          begun = [now, kept, (await now.records()).filter(({ action }) => action !== 'node.wanted')];
          await begin(...begun);
          await commit();
        },
        whenStopped: async () => {
          // Stopping may have changed something.
          if (begun) await begin(...begun);
          await swap();
          await forgetElsewhere(project, computes, usedBefore);
        },
      });
    });
    announceRemoved(restored, before);
    await project.resume(restored);
    // The next rewind removes the rest.
    await this.#presents.sweep(project, await restored.records()).catch(() => undefined);
    return restored;
  }

  /** Undoes or redoes a rewind: restores the present that it kept. @throws project_closed, undo_conflict, and as `run` */
  async revert(project: KnownProject, direction: UndoDirection, { step, at, name, kept }: RewindStep): Promise<Undone> {
    const { source, memory } = await this.#presents.find(project, kept);
    const check = async ({ undo }: LiveProject) => {
      await undo.findRewind(direction, step);
    };
    const restored = await this.run(project, { name, source, memory, keeps: true, inverts: step, check });
    const created_at = Math.trunc(Date.parse(at) / 1000);
    const description = `The project before it was rewound to '${name}'`;
    const ids = { project_id: project.id, snapshot_id: kept };
    project.notices.emit({ action: 'snapshot.restored', event: { created_at, description, filename: '', name, ...ids } });
    return restored.undo.describeRevert(step);
  }

  async #fill(project: KnownProject, { source, memory }: Rewind, staging: string): Promise<void> {
    const { computes, floorBytes, version } = this.#options;
    const topology = await unpackSnapshot(source, { folder: staging, floorBytes });
    const { auto_close, auto_open, auto_start, checkpoint_bytes, checkpoint_minutes, name, project_id } = project.entry;
    const kept = { auto_close, auto_open, auto_start, checkpoint_bytes, checkpoint_minutes, name, project_id };
    const entry = canonical<ProjectEntry>({ ...topology.project, ...kept });
    const links = continueSchedules(topology.links, memory?.frozen_at);
    const restored: Topology = { ...topology, project: entry, links };
    await writeFileAtomic(join(staging, project.filename), await topologyText(restored, version));
    if (!memory) return;
    const nodes = Object.fromEntries(restored.nodes.map(({ node_id }) => [node_id, node_id]));
    await stageMemory(project, computes, { path: memory.path, destinations: [{ path: staging, nodes }] });
  }
}

function rewoundRecord(seq: number, event: Rewound, inverts: number | undefined): LogRecord {
  const by = findRequester()?.by ?? null;
  const at = new Date().toISOString();
  return { seq, at, by, step: seq, ...(inverts !== undefined && { inverts }), action: 'project.rewound', event, was: null };
}

function failure(name: string, error: unknown): unknown {
  if (isFault(error)) return error;
  return fault('snapshot_failed', { name, what: 'restored', reason: (error as Error).message }, { cause: error });
}
