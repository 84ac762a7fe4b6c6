/**
 * Writes changes of an open project to its log, and then lets them take effect: each by itself, or several together.
 *
 * Together, changes take effect one after the other, as each builds on those before, and become durable as one line of the log:
 * whole or absent when the server dies. No other change is made meanwhile, and listeners are notified when the line is on disk.
 */

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../../api/faults.ts';
import { findRequester } from '../../../api/requester.ts';
import { stagingPrefix } from '../../../schema/folders.ts';
import { type Pending, type ProjectLog, storageFailed } from '../../log/project-log.ts';
import type { ProjectChange } from '../../log/records.ts';
import type { Commit } from './project-context.ts';

/** `event`: what listeners are sent, if anything. */
type AnnounceChange = (change: ProjectChange, event: object | undefined, seq: number) => void;

/** A step that is being reverted while other requests have their turn. */
interface Revert {
  readonly step: number;
  /** Ids of the nodes, links and drawings that the step changed. */
  readonly subjects: ReadonlySet<string>;
  /** Another request has changed one of them since. */
  isLate: boolean;
}

interface Writing {
  readonly changes: readonly ProjectChange[];
  /** The step that they revert, if any. */
  readonly step: number | undefined;
}

export class ProjectChanges {
  readonly #folder: string;
  readonly #log: ProjectLog;
  readonly #announce: AnnounceChange;
  /** Changes that took effect and are not in the log yet. */
  #together: Pending[] | undefined;
  readonly #reverts = new Set<Revert>();
  /** Changes that are being written to the log, of which no reader of it knows yet. */
  readonly #writing = new Set<Writing>();
  /** Number of changes that took effect since the project was opened. */
  effects = 0;

  constructor(folder: string, log: ProjectLog, announce: AnnounceChange) {
    this.#folder = folder;
    this.#log = log;
    this.#announce = announce;
  }

  /** Changes that stand or fall together, also when the server dies. @throws `storage_failed`, `undo_conflict`; nothing changed then */
  async commitAll(commits: readonly Commit[]): Promise<void> {
    const waiting = this.#together;
    if (!waiting) {
      const step = findRequester()?.inverts;
      if ([...this.#reverts].some((revert) => revert.step === step && revert.isLate))
        throw fault('undo_conflict', { reason: 'it was changed by another request since' });
      const writing = { changes: commits.map(({ change }) => change), step };
      for (const revert of this.#reverts) revert.isLate ||= overtakes(writing, revert);
      const written = () => this.#writing.delete(writing);
      const apply = (commit: Commit) => (seq: number) => {
        written();
        this.#announce(commit.change, this.#effect(commit), seq);
      };
      this.#writing.add(writing);
      return this.#log.appendAll(commits.map((commit) => ({ change: commit.change, apply: apply(commit) }))).finally(written);
    }
    for (const commit of commits) {
      const { change } = commit;
      if (change.action === 'node.deleting') {
        // The record precedes the move of the node's files by its compute. A revert deletes nodes on a full disk, too.
        await this.#log.appendAll([{ change, apply: () => undefined }]).catch(() => undefined);
        continue;
      }
      const event = this.#effect(commit);
      waiting.push({ change, apply: (seq) => this.#announce(change, event, seq), requester: findRequester() });
    }
  }

  /** Reverts a step by `fn`, whose changes fail once another request has changed one of the step's subjects. */
  async revert<T>(step: number, subjects: ReadonlySet<string>, fn: () => Promise<T>): Promise<T> {
    const revert = { step, subjects, isLate: false };
    revert.isLate = [...this.#writing].some((writing) => overtakes(writing, revert));
    this.#reverts.add(revert);
    try {
      return await fn();
    } finally {
      this.#reverts.delete(revert);
    }
  }

  /**
   * Makes what `fn` changes one line of the log; the gate is held. When `fn` fails, or the line cannot be written, `revert` reverts
   * what was changed, the last first. @throws why
   */
  async together(fn: () => Promise<void>, revert: (change: ProjectChange) => Promise<void>): Promise<void> {
    const resume = this.#log.pauseSnapshots();
    try {
      await this.#asOne(fn, revert);
    } finally {
      resume();
    }
  }

  #effect({ apply }: Commit): object | undefined {
    this.effects += 1;
    return apply();
  }

  async #asOne(fn: () => Promise<void>, revert: (change: ProjectChange) => Promise<void>): Promise<void> {
    const release = await reserveRoom(this.#folder);
    const { changes, error } = await this.#collect(fn).finally(release);
    if (error === undefined) {
      return this.#log.appendAll(changes).catch(async (failure: unknown) => {
        await this.#collect(() => revertAll(changes, revert));
        throw failure;
      });
    }
    const { changes: reverted } = await this.#collect(() => revertAll(changes, revert));
    // A revert is recorded, but cannot be undone: the result differs slightly from the state before, as links use other UDP ports.
    const notUndoable = [...changes, ...reverted].map(({ change, ...more }) => ({
      ...more,
      change: { ...change, undoable: false },
    }));
    await this.#log.appendAll(notUndoable).catch(() => undefined);
    throw error;
  }

  async #collect(fn: () => Promise<void>): Promise<{ changes: readonly Pending[]; error?: unknown }> {
    const changes: Pending[] = [];
    this.#together = changes;
    try {
      await fn();
      return { changes };
    } catch (error) {
      return { changes, error };
    } finally {
      this.#together = undefined;
    }
  }
}

/** Whether another request changes what the revert is about. */
function overtakes({ changes, step }: Writing, revert: Revert): boolean {
  if (step === revert.step) return false;
  const isOf = ({ action, event }: ProjectChange) => touchedBy(action, event).some((id) => revert.subjects.has(id));
  return changes.some((change) => change.undoable && isOf(change));
}

/** Ids of what a change is about; of a link, also of its nodes, which are deleted with it, and of that to which it is mirrored. */
function touchedBy(action: string, event: object): readonly string[] {
  const { node_id, link_id, drawing_id, nodes, mirror } = event as { readonly [key: string]: unknown };
  const ends = action.startsWith('link.') ? [...(Array.isArray(nodes) ? nodes : []), ...(mirror ? [mirror] : [])] : [];
  const ids = ends.map((end: { node_id?: unknown }) => end.node_id);
  return [node_id, link_id, drawing_id, ...ids].filter((id) => typeof id === 'string');
}

async function revertAll(changes: readonly Pending[], revert: (change: ProjectChange) => Promise<void>): Promise<void> {
  for (const { change } of changes.toReversed()) if (change.undoable) await revert(change);
}

/** The line of some thousand changes, and as many records of a compute. */
const roomBytes = 1024 * 1024;

/**
 * Takes room on the project's disk before changes take effect that are written afterwards: on a full disk they would have to be reverted,
 * and computes on the same disk could not write what that needs.
 * @returns the function that gives the room back, for the changes themselves. @throws `storage_failed`
 */
async function reserveRoom(folder: string): Promise<() => Promise<void>> {
  // A file of such a name, which a killed server leaves, is removed when the project is opened.
  const path = join(folder, `${stagingPrefix}room.tmp`);
  const release = () => rm(path, { force: true }).catch(() => undefined);
  try {
    await writeFile(path, Buffer.alloc(roomBytes, 1), { flag: 'wx' });
  } catch (error) {
    await release();
    throw storageFailed(error);
  }
  return release;
}
