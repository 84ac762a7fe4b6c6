/**
 * Files in a node's folder, which belongs to the user of emulators: an image that broke out of IOS could put symbolic links in their place,
 * also while the server reads and writes them. None is followed.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';

/** Undefined when there is no regular file of at most so many bytes. */
export async function readNodeFile(path: string, maxBytes: number): Promise<Buffer | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined);
  try {
    const facts = await file?.stat();
    return facts?.isFile() && facts.size <= maxBytes ? await file?.readFile() : undefined;
  } finally {
    await file?.close();
  }
}

/** Replaces the file. */
export async function writeNodeFile(path: string, data: string | Buffer): Promise<void> {
  const temporary = `${path}.${randomUUID()}`;
  try {
    const file = await open(temporary, 'wx', 0o644);
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
}
