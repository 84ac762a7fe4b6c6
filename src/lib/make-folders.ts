import { mkdir, rename, rmdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder and its parents; returns the outermost folder that was created. Other callers may create the same ones. (Node's
 * own recursive `mkdir` never ends where a file system answers ENOENT for an existing folder, such as `/proc`.)
 */
export async function makeFolders(path: string): Promise<string | undefined> {
  try {
    return await makeFolder(path);
  } catch (error) {
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error;
    const outermost = await makeFolders(above);
    const made = await makeFolder(path);
    return outermost ?? made;
  }
}

/** Removes `folder` and its parents up to `outermost`, from `makeFolders`, as far as they are empty. */
export async function removeFolders(folder: string, outermost: string): Promise<void> {
  for (let path = folder; ; path = dirname(path)) {
    const isRemoved = await rmdir(path).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    );
    if (!isRemoved || path === outermost) return;
  }
}

/** Creates a folder; returns undefined when it existed. */
async function makeFolder(path: string): Promise<string | undefined> {
  try {
    await mkdir(path);
    return path;
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EEXIST';
    const found = isTaken ? await stat(path).catch(() => undefined) : undefined;
    if (found?.isDirectory()) return undefined;
    throw error;
  }
}

/** Moves a folder to a place where there is none, or an empty one. Answers false where it is on another disk: nothing has happened then. */
export async function moveFolder(from: string, to: string): Promise<boolean> {
  const isElsewhere = (error: NodeJS.ErrnoException) => (error.code === 'EXDEV' ? true : Promise.reject(error));
  return !(await rename(from, to).catch(isElsewhere));
}
