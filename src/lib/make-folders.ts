import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it; returns the outermost one that had to be made. (Node's own recursive `mkdir` never ends where
 * a file system answers ENOENT for a folder that is there, as `/proc` does.)
 */
export async function makeFolders(path: string): Promise<string | undefined> {
  const missing = [path];
  for (;;) {
    const folder = missing.at(-1) ?? path;
    try {
      await mkdir(folder);
      break;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const above = dirname(folder);
      if (code === 'EEXIST' && (await isFolder(folder))) {
        missing.pop();
        if (missing.length > 0) await mkdir(missing.at(-1) ?? path);
        break;
      }
      if (code !== 'ENOENT' || above === folder || (await isFolder(above))) throw error;
      missing.push(above);
    }
  }
  const outermost = missing.pop();
  for (const inner of missing.toReversed()) await mkdir(inner);
  return outermost;
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
