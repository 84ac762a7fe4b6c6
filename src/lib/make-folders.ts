import { mkdir, rmdir, stat } from 'node:fs/promises';
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
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && (await isFolder(path))) return undefined;
    throw error;
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
