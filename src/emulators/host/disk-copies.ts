import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { diskCopyPrefix } from '../../schema/folders.ts';

/** Copies of a machine's disks (`copyDisks`) in its node's folder: it has ended, or they are in the way, and are made anew. Never rejects. */
export async function removeDiskCopies(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch((): string[] => []))
    if (name.startsWith(diskCopyPrefix)) await rm(join(folder, name), { force: true }).catch(() => undefined);
}
