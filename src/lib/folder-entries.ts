/** Walks trees of folders: many entries at a time, with a bounded number of open folders. */
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';

/** Entries of a folder that are handled at the same time. */
const parallel = 32;
/** Folders of a tree that are handled at the same time, beside those above them. */
const parallelFolders = 8;

/** Number of folders of a tree that may still begin beside those under way. Without one, a folder is completed before its siblings. */
export class FolderPlaces {
  spare = parallelFolders;
}

/**
 * Calls `fn` for each entry of a folder; all calls have ended when this settles, also after a failure. The calls for the folders in it
 * pass `places` on. @throws the first error, and errors of the system
 */
export async function forEachEntry(folder: string, places: FolderPlaces, fn: (entry: Dirent) => Promise<void>): Promise<void> {
  let batch: Promise<void>[] = [];
  const settled = async () => {
    const results = await Promise.allSettled(batch);
    batch = [];
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  };
  try {
    for await (const entry of await opendir(folder, { bufferSize: parallel })) {
      const isFolder = entry.isDirectory();
      if (isFolder) places.spare -= 1;
      const call = fn(entry).finally(() => {
        if (isFolder) places.spare += 1;
      });
      // A failure is read when the batch is complete.
      call.catch(() => undefined);
      batch.push(call);
      if (batch.length === parallel || (isFolder && places.spare <= 0)) await settled();
    }
    await settled();
  } finally {
    await Promise.allSettled(batch);
  }
}
