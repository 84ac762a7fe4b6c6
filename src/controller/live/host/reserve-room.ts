/**
 * Takes room on the project's disk before changes take effect that are written afterwards: on a full disk they would have to be reverted,
 * and computes on the same disk could not write what that needs.
 */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stagingPrefix } from '../../../schema/folders.ts';
import { storageFailed } from '../../log/project-log.ts';

/** The line of some thousand changes, and as many records of a compute. */
const roomBytes = 1024 * 1024;

/** Returns what gives the room back, for the changes themselves. @throws `storage_failed` */
export async function reserveRoom(folder: string): Promise<() => Promise<void>> {
  // A file of such a name, which a killed server leaves, is removed when the project is opened.
  const path = join(folder, `${stagingPrefix}room.tmp`);
  const release = () => rm(path, { force: true }).catch(() => undefined);
  try {
    await writeFile(path, Buffer.alloc(roomBytes, 1), { flag: 'wx' });
  } catch (error) {
    await release();
    throw storageFailed(error);
  }
  return release;
}
