/**
 * Opens folders by descriptor, so that they stay the same folder whatever happens to their paths: for trees in which another user's
 * programs create, rename and link files.
 */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isBelow } from './inside.ts';

/** Opens a folder. @throws errors of the system, also for a symbolic link */
export function openFolder(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY);
}

/** Returns an open folder's path for this process and for programs that it runs as the same user. */
export function openedPath({ fd }: FileHandle): string {
  return `/proc/${process.pid}/fd/${fd}/.`;
}

/**
 * Opens the folder at `way` (a relative path without `..`) below `folder`, and creates missing folders. @throws errors of the
 * system, also for a symbolic link in the path
 */
export async function openFolderBelow(folder: string, way: string): Promise<FileHandle> {
  let opened = await openFolder(folder);
  for (const name of way.split('/')) {
    if (name === '' || name === '.') continue;
    const above = opened;
    try {
      opened = await openOrMake(join(openedPath(above), name));
    } finally {
      await above.close();
    }
  }
  return opened;
}

async function openOrMake(path: string): Promise<FileHandle> {
  try {
    return await openFolder(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return openFolder(path);
}

/** Whether an open file is below a folder now. Its path may have led through another user's link when it was opened. */
export async function isOpenedBelow(folder: string, { fd }: FileHandle): Promise<boolean> {
  const [root, path] = await Promise.all([realpath(folder), readlink(`/proc/self/fd/${fd}`)]);
  return isBelow(root, path);
}
