import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Blocks on disk of all files below a folder, not their lengths: images and memory of machines have holes. Bytes. */
export async function sizeOnDisk(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await lstat(join(entry.parentPath, entry.name))).blocks * 512;
  }
  return bytes;
}
