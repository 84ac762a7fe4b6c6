import { randomUUID } from 'node:crypto';
import { constants, copyFile, lstat, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { forEachBounded } from './bounded.ts';

/** Files that are measured at the same time. */
const parallel = 16;

/** Size of the probe file: a whole block, so that the file system cannot store it within the inode. */
const probeBytes = 4096;

/**
 * Returns the allocated bytes of all files below a folder, or of one file, by file: hard links count once. A path that does not
 * exist has none.
 */
export async function filesOnDisk(path: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  const add = async (file: string): Promise<void> => {
    // The file may be deleted meanwhile.
    const facts = await lstat(file).catch(() => undefined);
    if (facts?.isFile()) sizes.set(`${facts.dev}:${facts.ino}`, facts.blocks * 512);
  };
  await add(path);
  if (sizes.size > 0) return sizes;
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  await forEachBounded(files, parallel, ({ parentPath, name }) => add(join(parentPath, name)));
  return sizes;
}

/** Returns the allocated bytes of all files below a folder, not their lengths: disk images and machines' memory are sparse. */
export async function sizeOnDisk(folder: string): Promise<number> {
  return sumOf(await filesOnDisk(folder));
}

export function sumOf(sizes: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const size of sizes.values()) sum += size;
  return sum;
}

/**
 * Returns the bytes that Node's copy of all files below `folder` takes in `target`, which fills holes. 0 where the file system
 * shares blocks between copies.
 */
export async function sizeOfCopy(folder: string, target: string): Promise<number> {
  if (await sharesBlocks(target)) return 0;
  let bytes = 0;
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const [error] = await forEachBounded(files, parallel, async ({ parentPath, name }) => {
    const { size } = await lstat(join(parentPath, name));
    bytes += size;
  });
  if (error !== undefined) throw error;
  return bytes;
}

/** Whether copies share blocks, found by a trial: it depends on the file system and its options. */
async function sharesBlocks(folder: string): Promise<boolean> {
  const [file, copy] = ['a', 'b'].map((end) => join(folder, `.patchbay-probe-${randomUUID()}-${end}`)) as [string, string];
  try {
    await writeFile(file, Buffer.alloc(probeBytes, 1));
    await copyFile(file, copy, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false;
  } finally {
    for (const path of [file, copy]) await rm(path, { force: true });
  }
}
