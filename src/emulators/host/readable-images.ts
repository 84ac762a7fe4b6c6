/**
 * Images that only their owner may read: archives of GNS3 keep mode 0700, and administrators copy images as 0600. On a server that is root
 * emulators run as other users, which must read them.
 */
import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { isReallyBelow } from '../../lib/inside.ts';
import type { Settings } from '../../schema/settings.ts';
import { allows } from './file-access.ts';
import { openGuarded } from './guarded-file.ts';
import type { RunAs } from './run-as.ts';

/** Returns the folders of images of this server. */
export function imageFolders({ Server }: Pick<Settings, 'Server'>): string[] {
  return [Server.images_path, ...Server.additional_images_path.split(';').filter(isAbsolute)];
}

interface ReadableFiles {
  /** Folders whose files the server may open to others: those of images, the project's folder. */
  readonly folders: readonly string[];
  /** Permissions as in `allows`: read 4, execute 1. */
  readonly need: number;
}

/**
 * Lets all users read those of the files that lie in the folders and are closed to the user, and execute those that their owner may.
 * Files elsewhere stay as they are: their use is refused later, with their name. @throws path_forbidden
 */
export async function makeReadable(runAs: RunAs, paths: readonly string[], { folders, need }: ReadableFiles): Promise<void> {
  for (const path of paths) {
    const facts = await stat(path).catch(() => undefined);
    if (facts === undefined || allows(runAs, facts, need)) continue;
    const ours = await Promise.all(folders.map((folder) => isReallyBelow(folder, path)));
    if (!ours.some(Boolean)) continue;
    await using file = await openGuarded(path, runAs);
    const opened = await file?.stat();
    if (!file || !opened) continue;
    // A file that its owner may not execute is not made executable: the start says so. A group or an owner without the permission keeps
    // others from counting.
    const granted = need & ((opened.mode >> 6) | 0o4);
    await file.chmod((opened.mode & 0o777) | (granted << 6) | (granted << 3) | granted);
  }
}
