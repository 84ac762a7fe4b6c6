/**
 * Folders of deleted nodes, kept in their project for a while so that a deletion can be undone: moved, not copied. The oldest go
 * when there are too many or they are too large. With the project's folder all go.
 */
import { lstat, mkdir, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import { sizeOnDisk } from '../../lib/folder-size.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { deletedNodesFolder } from '../../schema/folders.ts';

const mostFolders = 50;
/** Blocks on disk, not lengths of files: disks of machines have holes. Bytes. */
const mostBytes = 2 * 1024 ** 3;

/** The folders that one project keeps. */
export class KeptFolders {
  #isSweeping = false;
  #sweepsAgain = false;

  /** Keeps a node's folder. False: it is where it was. */
  async keep(projectPath: string, nodeId: string, folder: string): Promise<boolean> {
    const kept = join(projectPath, deletedNodesFolder);
    try {
      await mkdir(kept, { recursive: true });
      await removeTree(join(kept, nodeId));
      await rename(folder, join(kept, nodeId));
      // The deletion does not wait for it.
      void this.#sweep(kept);
      return true;
    } catch {
      return false;
    }
  }

  /** Removes the oldest. Each look measures all folders that are kept: deletions during a look share the next one. */
  async #sweep(kept: string): Promise<void> {
    this.#sweepsAgain = true;
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    while (this.#sweepsAgain) {
      this.#sweepsAgain = false;
      await removeOldest(kept).catch(() => undefined);
    }
    this.#isSweeping = false;
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
  const folders: { readonly path: string; readonly movedAt: number }[] = [];
  await forEachBounded(await readdir(kept), concurrency, async (name) => {
    const path = join(kept, name);
    folders.push({ path, movedAt: (await lstat(path)).ctimeMs });
  });
  let bytes = 0;
  for (const [index, { path }] of folders.sort((one, other) => other.movedAt - one.movedAt).entries()) {
    if (index < mostFolders) bytes += await sizeOnDisk(path);
    if (index >= mostFolders || bytes > mostBytes) await removeTree(path);
  }
}
