import { mkdir, rmdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it; returns the outermost one that had to be made. Others may be making the same. (Node's own
 * recursive `mkdir` never ends where a file system answers ENOENT for a folder that is there, as `/proc` does.)
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

/** Removes `folder` and those above it up to `outermost`, as `makeFolders` returned it, as far as nothing else was put into them. */
export async function removeFolders(folder: string, outermost: string): Promise<void> {
  for (let path = folder; ; path = dirname(path)) {
    const isRemoved = await rmdir(path).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    );
    if (!isRemoved || path === outermost) return;
  }
}

/** Undefined when it was there. */
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
