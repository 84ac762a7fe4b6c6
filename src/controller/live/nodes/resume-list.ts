/**
 * Nodes of a project that are to run again: those that ran when it was frozen, when their slice was lost, or before they were stopped to be
 * moved. The list stands in the project's folder until each of them was started or its user has stopped or deleted it, so that a server
 * that dies in between continues.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../../api/faults.ts';
import { writeFileAtomic } from '../../../lib/atomic-file.ts';
import { EventStream } from '../../../lib/event-stream.ts';
import { Mutex } from '../../../lib/mutex.ts';
import { readRegularFile } from '../../../lib/regular-file.ts';
import { isUuid } from '../../../schema/common.ts';
import { stagingPrefix } from '../../../schema/folders.ts';

const listName = `${stagingPrefix}resume.json`;
/** A hundred thousand nodes. */
const largestList = 1 << 22;

/** Of a project that is not open. @throws what the disk says */
export function writeResumeList(folder: string, nodeIds: readonly string[]): Promise<void> {
  const file = join(folder, listName);
  return nodeIds.length === 0 ? rm(file, { force: true }) : writeFileAtomic(file, JSON.stringify(nodeIds));
}

/** That of an open project: nothing else writes the file meanwhile. */
export class ResumeList {
  readonly #folder: string;
  readonly #mutex = new Mutex();
  /** Ids of nodes that their users have stopped or deleted. */
  readonly refusals = new EventStream<string>();
  /** By the id of the node: how often it was added. Undefined: not read yet. */
  #nodes: Map<string, number> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** By the id of the node: how often it was added. */
  all(): Promise<ReadonlyMap<string, number>> {
    return this.#mutex.run(async () => new Map(await this.#read()));
  }

  has(nodeId: string): Promise<boolean> {
    return this.#mutex.run(async () => (await this.#read()).has(nodeId));
  }

  /** Resolves when they are on disk. @throws storage_failed */
  add(nodeIds: Iterable<string>): Promise<void> {
    return this.#change((nodes) => {
      for (const id of nodeIds) nodes.set(id, (nodes.get(id) ?? 0) + 1);
    });
  }

  /** Its user has stopped or deleted it. @throws storage_failed */
  refuse(nodeId: string): Promise<void> {
    this.refusals.emit(nodeId);
    return this.remove([nodeId]);
  }

  /** Resolves when they are gone from the disk. @throws storage_failed */
  remove(nodeIds: Iterable<string>): Promise<void> {
    return this.#change((nodes) => {
      for (const id of nodeIds) nodes.delete(id);
    });
  }

  /** Removes those that were not added again since `all` answered them. @throws storage_failed */
  removeDone(done: ReadonlyMap<string, number>): Promise<void> {
    return this.#change((nodes) => {
      for (const [id, times] of done) if (nodes.get(id) === times) nodes.delete(id);
    });
  }

  /** @throws storage_failed */
  clear(): Promise<void> {
    return this.#change((nodes) => nodes.clear());
  }

  #change(change: (nodes: Map<string, number>) => void): Promise<void> {
    return this.#mutex.run(async () => {
      const before = await this.#read();
      const after = new Map(before);
      change(after);
      // A slice that waits for the move of its nodes asks twice a second.
      if (after.size !== before.size || [...after.keys()].some((id) => !before.has(id)))
        await writeResumeList(this.#folder, [...after.keys()]).catch((cause: Error) => {
          throw fault('storage_failed', { reason: cause.message }, { cause });
        });
      this.#nodes = after;
    });
  }

  async #read(): Promise<Map<string, number>> {
    if (this.#nodes) return this.#nodes;
    const file = join(this.#folder, listName);
    const text = await readRegularFile(file, largestList).catch(() => undefined);
    this.#nodes = new Map((text === undefined ? [] : idsIn(String(text))).map((id) => [id, 1]));
    return this.#nodes;
  }
}

function idsIn(text: string): string[] {
  try {
    const ids: unknown = JSON.parse(text);
    return Array.isArray(ids) ? ids.filter((id): id is string => typeof id === 'string' && isUuid(id)) : [];
  } catch {
    return [];
  }
}
