/** Folders that get their places together: a machine that runs on must not find memory of an earlier moment at its next start. */
import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '../../lib/atomic-file.ts';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import { removeTree } from '../../lib/remove-tree.ts';

export interface Placement {
  readonly from: string;
  /** Replaced where it exists; the folder above it exists. */
  readonly to: string;
}

/** Moves all folders to their places, durably. After a failure there is nothing at any of the places. @throws errors of the system */
export async function placeFolders(placements: readonly Placement[]): Promise<void> {
  try {
    const [error] = await forEachBounded(placements, concurrency, async ({ from, to }) => {
      await remove(to);
      await rename(from, to);
      await syncFolder(dirname(to));
    });
    if (error !== undefined) throw error;
  } catch (error) {
    await Promise.allSettled(placements.map(({ to }) => remove(to)));
    throw error;
  }
}

function remove(folder: string): Promise<void> {
  return removeTree(folder);
}
