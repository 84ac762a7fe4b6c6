/**
 * Folders of deleted nodes, kept in their project for a while so that a deletion can be undone: moved, not copied. The oldest go
 * when there are too many or they are too large. With the project's folder all go.
 */
import { lstat, mkdir, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sizeOnDisk } from '../../lib/folder-size.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { deletedNodesFolder } from '../../schema/folders.ts';

const mostFolders = 50;
/** Blocks on disk, not lengths of files: disks of machines have holes. Bytes. */
const mostBytes = 2 * 1024 ** 3;

/** Whether the folder is kept now; otherwise it is where it was. */
export async function keepFolder(projectPath: string, nodeId: string, folder: string): Promise<boolean> {
  const kept = join(projectPath, deletedNodesFolder);
  try {
    await mkdir(kept, { recursive: true });
    await removeTree(join(kept, nodeId));
    await rename(folder, join(kept, nodeId));
    // The deletion does not wait for it.
    removeOldest(kept).catch(() => undefined);
    return true;
  } catch {
    return false;
  }
}

/** Replaces a node's folder by the folder that was kept for its id; does nothing when none was kept. */
export async function restoreFolder(projectPath: string, nodeId: string, folder: string): Promise<void> {
  const kept = await findKept(projectPath, nodeId);
  if (kept === undefined) return;
  await removeTree(folder);
  await mkdir(dirname(folder), { recursive: true });
  await rename(kept, folder);
}

/** Restores the kept files that are missing in a folder in use; the files in that folder stay. */
export async function restoreMissing(projectPath: string, nodeId: string, folder: string): Promise<void> {
  const kept = await findKept(projectPath, nodeId);
  if (kept === undefined) return;
  await mkdir(folder, { recursive: true });
  const present = new Set(await readdir(folder));
  for (const name of await readdir(kept)) if (!present.has(name)) await rename(join(kept, name), join(folder, name));
  await removeTree(kept);
}

async function findKept(projectPath: string, nodeId: string): Promise<string | undefined> {
  const kept = join(projectPath, deletedNodesFolder, nodeId);
  return lstat(kept).then(
    () => kept,
    () => undefined,
  );
}

async function removeOldest(kept: string): Promise<void> {
  const folders = await Promise.all(
    (await readdir(kept)).map(async (name) => ({ path: join(kept, name), movedAt: (await lstat(join(kept, name))).ctimeMs })),
  );
  let bytes = 0;
  for (const [index, { path }] of folders.sort((one, other) => other.movedAt - one.movedAt).entries()) {
    bytes += await sizeOnDisk(path);
    if (index >= mostFolders || bytes > mostBytes) await removeTree(path);
  }
}
