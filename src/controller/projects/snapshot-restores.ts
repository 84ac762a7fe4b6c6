/**
 * Replacing the files of a project as a whole, whenever the server dies.
 *
 * Theory of operation. What is to be there grows in a folder inside the project's (the same file system), which is noted first as
 * `filling`. Before the nodes are stopped for it, it is noted as `committed`: from that instant the project *is* what stands there, as
 * machines that were stopped cannot continue. When nothing uses the project any more it is noted as `complete`, and moved to its places,
 * which can be repeated: each step finds out whether it was done. A server that starts removes what was filling and finishes what was
 * complete; what was committed it finishes when it opens the project, whose nodes may still run.
 */
import { lstat, mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../lib/atomic-file.ts';
import { DurableMap } from '../../lib/durable-map.ts';
import type { Log } from '../../lib/log.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { isUuid } from '../../schema/common.ts';
import { deletedNodesFolder } from '../../schema/folders.ts';
import { keptPresentPath } from '../log/kept-presents.ts';

const stagingName = '.patchbay-restore';
/** Folder in the staging folder with the earlier files, until they are removed. */
const oldName = '.old';
/** File in the staging folder with the id of the present that was kept: it gets the folders of nodes that were deleted in it. */
export const keptNoteName = '.patchbay-kept';

type RestoreState = 'filling' | 'committed' | 'complete';

/** Callbacks during the replacement of a project, in this order. */
interface Replacing {
  /** Makes the replacement final: the nodes are about to be stopped. */
  commit(): Promise<void>;
  /** Nothing uses the project any more. */
  swap(): Promise<void>;
}

export class Restores {
  /** Restore states by project folder. */
  readonly #noted: DurableMap<RestoreState>;

  private constructor(noted: DurableMap<RestoreState>) {
    this.#noted = noted;
  }

  /** Brings to an end what an earlier server was about to do. */
  static async open(stateDirectory: string, log: Log): Promise<Restores> {
    const file = join(stateDirectory, 'restores.log');
    const restores = new Restores(await DurableMap.open(file, (message) => log.error(message)));
    for (const [folder, state] of [...restores.#noted.entries()]) {
      if (state === 'committed' && (await exists(folder))) continue;
      const ending = state === 'complete' && (await exists(folder)) ? restores.#finish(folder) : restores.#drop(folder);
      await ending.catch((error: unknown) => log.error({ err: error }, `the restore of ${folder} could not be brought to its end`));
    }
    return restores;
  }

  /** Continues a swap that could not be finished, before the files of the project are read; `stop` ends what still uses the project. */
  async settle(folder: string, stop: () => Promise<void>): Promise<void> {
    const state = this.#noted.get(folder);
    if (state === 'committed') await stop();
    if (state === 'committed' || state === 'complete') await this.#swap(folder);
  }

  /** `fill` makes what is to be there; `whenFilled` may add to it, sees to it that nothing uses the project, and calls what is to be called. */
  async replace<T>(
    folder: string,
    fill: (staging: string) => Promise<void>,
    whenFilled: (staging: string, replacing: Replacing) => Promise<T>,
  ): Promise<T> {
    const staging = join(folder, stagingName);
    await this.#noted.set(folder, 'filling');
    try {
      await removeTree(staging);
      await mkdir(join(staging, 'project-files'), { recursive: true });
      await fill(staging);
      const commit = () => this.#noted.set(folder, 'committed');
      return await whenFilled(staging, { commit, swap: () => this.#swap(folder) });
    } finally {
      if (this.#noted.get(folder) === 'filling') await this.#drop(folder);
    }
  }

  close(): Promise<void> {
    return this.#noted.close();
  }

  async #swap(folder: string): Promise<void> {
    await this.#noted.set(folder, 'complete');
    await this.#finish(folder);
  }

  async #drop(folder: string): Promise<void> {
    await removeTree(join(folder, stagingName));
    await this.#noted.delete(folder);
  }

  async #finish(folder: string): Promise<void> {
    const staging = join(folder, stagingName);
    const old = join(staging, oldName);
    const [next, current] = [join(staging, 'project-files'), join(folder, 'project-files')];
    if (await exists(next)) {
      await moveDeletedNodes(staging, folder);
      if (!(await exists(old)) && (await exists(current))) await rename(current, old);
      await rename(next, current);
    }
    // Captures are the user's, and in no snapshot.
    const captures = join(current, 'captures');
    if ((await exists(join(old, 'captures'))) && !(await exists(captures))) await rename(join(old, 'captures'), captures);
    await removeTree(old);
    await removeTree(join(staging, keptNoteName));
    await moveInto(staging, folder);
    await syncFolder(folder);
    await removeTree(staging);
    await this.#noted.delete(folder);
  }
}

/** Folders of deleted nodes go with the present in which undo can restore them; without one, they cannot be restored any more. */
async function moveDeletedNodes(staging: string, folder: string): Promise<void> {
  const deleted = join(folder, deletedNodesFolder);
  const kept = await readFile(join(staging, keptNoteName), 'utf8').catch(() => '');
  if (!isUuid(kept)) return removeTree(deleted);
  await rename(deleted, join(keptPresentPath(folder, kept), 'files', deletedNodesFolder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** Moves everything from one folder into another; folders that are in both are joined, anything else is replaced. */
async function moveInto(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true }).catch(() => [])) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    const there = await lstat(target).catch(() => undefined);
    if (entry.isDirectory() && there?.isDirectory()) {
      await moveInto(source, target);
      continue;
    }
    if (there && (there.isDirectory() || entry.isDirectory())) await removeTree(target);
    await rename(source, target);
  }
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
