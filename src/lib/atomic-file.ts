/** Writes files atomically, so that a reader finds the old or the new content: temporary file, sync, rename, sync of the folder. */
import { type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const temporaryEnd = '.tmp';

/** Replaces a file. `data`: a list is written piece by piece. `mode`: permissions of the file; default 0666 less the umask. */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array | readonly Uint8Array[],
  mode?: number,
): Promise<void> {
  const temporary = `${path}${temporaryEnd}`;
  try {
    const file = await openAnew(temporary, mode);
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Removes the temporary files of a killed process's `writeFileAtomic` from a folder, for names with `prefix`. Never rejects. */
export async function removeHalfWritten(folder: string, prefix: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (name.startsWith(prefix) && name.endsWith(temporaryEnd)) await removeEarlier(join(folder, name));
  }
}

/** Removes a file that is older than this process. Never rejects. */
export async function removeEarlier(path: string): Promise<void> {
  const facts = await lstat(path).catch(() => undefined);
  if (facts?.isFile() && facts.mtimeMs < performance.timeOrigin) await rm(path, { force: true }).catch(() => undefined);
}

/** Creates the temporary file. A file of a crash, or another user's link, is replaced and never written through. */
async function openAnew(path: string, mode: number | undefined): Promise<FileHandle> {
  try {
    return await open(path, 'wx', mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await rm(path, { recursive: true });
    return open(path, 'wx', mode);
  }
}

/** Makes names that were added to or removed from a folder durable. */
export function syncFolder(path: string): Promise<void> {
  return syncFile(path);
}

/** Makes the content of a file durable. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
