/**
 * Removes folders with any number of files. Node's own `rm` starts the removal of all files of a folder in one turn of the event
 * loop, 0.4 s for 60,000. It also follows a link with which another user replaces a folder meanwhile.
 */
import { rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { FolderPlaces, forEachEntry } from './folder-entries.ts';
import { openedPath, openFolder } from './open-folder.ts';

/** Most attempts, because another process may write to the folder meanwhile. */
const mostPasses = 5;

/** Removes a folder with its content, or a file; of a symbolic link, the link itself. A path that does not exist is no error. */
export function removeTree(path: string): Promise<void> {
  return remove(path, new FolderPlaces());
}

async function remove(path: string, places: FolderPlaces): Promise<void> {
  for (let pass = 1; ; pass++) {
    const isFolder = await removeContent(path, places);
    if (!isFolder) return;
    try {
      return await rmdir(path);
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ENOENT') return;
      if ((code !== 'ENOTEMPTY' && code !== 'EEXIST') || pass >= mostPasses) throw error;
    }
  }
}

/** Empties a folder and returns true; removes anything else and returns false. */
async function removeContent(path: string, places: FolderPlaces): Promise<boolean> {
  const folder = await openFolder(path).catch(async (error: unknown) => {
    const code = codeOf(error);
    if (code === 'ENOENT') return undefined;
    if (code === 'ENOTDIR' || code === 'ELOOP') return unlink(path).catch(unlessMissing);
    // An unreadable folder can be removed when it is empty.
    if (
      code === 'EACCES' &&
      (await rmdir(path).then(
        () => true,
        () => false,
      ))
    )
      return undefined;
    throw error;
  });
  if (!folder) return false;
  try {
    const way = openedPath(folder);
    await forEachEntry(way, places, (entry) =>
      entry.isDirectory() ? remove(join(way, entry.name), places) : removeFile(join(way, entry.name), places),
    );
    return true;
  } finally {
    // Paths of removals lead through the open folder: all have ended, because its number may be another one's once it is closed.
    await folder.close();
  }
}

async function removeFile(path: string, places: FolderPlaces): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    // Some file systems do not report in a listing which entries are folders.
    const code = codeOf(error);
    if (code === 'EISDIR' || code === 'EPERM') return remove(path, places);
    unlessMissing(error);
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function unlessMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}
