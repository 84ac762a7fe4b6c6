/**
 * Replacing the files of a project as a whole, whenever the server dies.
 *
 * Theory of operation. What is to be there grows in a folder inside the project's (the same file system), which is noted first as
 * `filling`. When it is complete and nothing uses the project any more it is noted as `complete`: from that instant the project *is*
 * what stands there. Moving it to its places comes after and can be repeated: each step finds out whether it was done. A server that
 * starts removes what was filling and finishes what was complete.
 */
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../lib/atomic-file.ts';
import { DurableMap } from '../../lib/durable-map.ts';
import type { Log } from '../../lib/log.ts';
import { deletedNodesFolder } from '../../schema/folders.ts';

const stagingName = '.patchbay-restore';
/** In the staging folder: the files of before, until they are removed. */
const oldName = '.old';

export class Restores {
  /** By the project's folder. */
  readonly #noted: DurableMap<'filling' | 'complete'>;

  private constructor(noted: DurableMap<'filling' | 'complete'>) {
    this.#noted = noted;
  }

  /** Brings to an end what an earlier server was about to do. */
  static async open(stateDirectory: string, log: Log): Promise<Restores> {
    const file = join(stateDirectory, 'restores.log');
    const restores = new Restores(await DurableMap.open(file, (message) => log.error(message)));
    for (const [folder, state] of [...restores.#noted.entries()]) {
      const ending = state === 'complete' && (await exists(folder)) ? restores.#finish(folder) : restores.#drop(folder);
      await ending.catch((error: unknown) => log.error({ err: error }, `the restore of ${folder} could not be brought to its end`));
    }
    return restores;
  }

  /** Before the files of a project are read: a swap that could not be finished is tried again. */
  async settle(folder: string): Promise<void> {
    if (this.#noted.get(folder) === 'complete') await this.#finish(folder);
  }

  /** `fill` makes what is to be there; `whenFilled` may add to it, sees to it that nothing uses the project, and calls `swap`. */
  async replace<T>(
    folder: string,
    fill: (staging: string) => Promise<void>,
    whenFilled: (staging: string, swap: () => Promise<void>) => Promise<T>,
  ): Promise<T> {
    await this.settle(folder);
    const staging = join(folder, stagingName);
    await this.#noted.set(folder, 'filling');
    try {
      await rm(staging, { recursive: true, force: true });
      await mkdir(join(staging, 'project-files'), { recursive: true });
      await fill(staging);
      return await whenFilled(staging, async () => {
        await this.#noted.set(folder, 'complete');
        await this.#finish(folder);
      });
    } finally {
      if (this.#noted.get(folder) === 'filling') await this.#drop(folder);
    }
  }

  close(): Promise<void> {
    return this.#noted.close();
  }

  async #drop(folder: string): Promise<void> {
    await rm(join(folder, stagingName), { recursive: true, force: true });
    await this.#noted.delete(folder);
  }

  async #finish(folder: string): Promise<void> {
    const staging = join(folder, stagingName);
    const old = join(staging, oldName);
    const [next, current] = [join(staging, 'project-files'), join(folder, 'project-files')];
    if (await exists(next)) {
      if (!(await exists(old)) && (await exists(current))) await rename(current, old);
      await rename(next, current);
    }
    // Captures are the user's, and in no snapshot.
    const captures = join(current, 'captures');
    if ((await exists(join(old, 'captures'))) && !(await exists(captures))) await rename(join(old, 'captures'), captures);
    await rm(old, { recursive: true, force: true });
    // There is no way back to before.
    await rm(join(folder, deletedNodesFolder), { recursive: true, force: true });
    await moveInto(staging, folder);
    await syncFolder(folder);
    await rm(staging, { recursive: true, force: true });
    await this.#noted.delete(folder);
  }
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
    if (there && (there.isDirectory() || entry.isDirectory())) await rm(target, { recursive: true, force: true });
    await rename(source, target);
  }
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
