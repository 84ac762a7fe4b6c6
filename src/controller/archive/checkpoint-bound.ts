/** Checkpoints take a bounded place on disk: the oldest go first. Snapshots of users are never removed. */
import { sumOf } from '../../lib/folder-size.ts';
import type { KnownProject } from '../projects/project.ts';
import type { Snapshots } from './snapshots.ts';

/** So that the list of snapshots stays far below its own bound (`snapshot-index.ts`). */
const mostCheckpoints = 200;

/** @returns bytes on disk of those that were removed, by id. @throws storage_failed, snapshot_failed */
export async function removeOldest(
  snapshots: Snapshots,
  project: KnownProject,
  mostBytes: number,
): Promise<ReadonlyMap<string, number>> {
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
