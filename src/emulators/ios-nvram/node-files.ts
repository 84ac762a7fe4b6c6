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

/**
 * Cuts the start of a log that is longer than `most` bytes: the last `keep` stay. Its writer appends, so that it is not disturbed; what it
 * writes at this moment may be missing. A file that is none, or has another name, stays as it is.
 */
export async function shortenLog(path: string, { most, keep }: { readonly most: number; readonly keep: number }): Promise<void> {
  const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined);
  try {
    const facts = await file?.stat();
    if (!file || !facts?.isFile() || facts.nlink > 1 || facts.size <= most) return;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(keep), 0, keep, facts.size - keep);
    await file.write(buffer, 0, bytesRead, 0);
    await file.truncate(bytesRead);
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
