/**
 * Folders that stay the same ones while they are open, whatever their names lead to meanwhile: for trees in which programs of another user
 * make, rename and link as they like.
 */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isBelow } from './inside.ts';

/** @throws errors of the system, also for a symbolic link */
export function openFolder(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY);
}

/** Its path for this process and for programs that it runs as the same user. */
export function openedPath({ fd }: FileHandle): string {
  return `/proc/${process.pid}/fd/${fd}/.`;
}

/** Opens the folder at `way` (a relative path without `..`) below `folder`, and makes what is missing. @throws errors of the system, also for a symbolic link on the way */
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

/** Whether an open file is below a folder now: its path when it was opened may have led through a link that another user put there. */
export async function isOpenedBelow(folder: string, { fd }: FileHandle): Promise<boolean> {
  const [root, path] = await Promise.all([realpath(folder), readlink(`/proc/self/fd/${fd}`)]);
  return isBelow(root, path);
}
