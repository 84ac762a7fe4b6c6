/** Folders that are being filled and do not count yet. They are noted first, so that a server that dies in between removes them later. */
import { join } from 'node:path';
import { DurableMap } from '../../lib/durable-map.ts';
import type { Log } from '../../lib/log.ts';
import { makeFolders } from '../../lib/make-folders.ts';
import { removeTree } from '../../lib/remove-tree.ts';

export class StagingFolders {
  readonly #noted: DurableMap<true>;

  private constructor(noted: DurableMap<true>) {
    this.#noted = noted;
  }

  /** Removes what an earlier server left behind. */
  static async open(stateDirectory: string, log: Log): Promise<StagingFolders> {
    const noted = await DurableMap.open<true>(join(stateDirectory, 'passing.log'), (message) => log.error(message));
    const folders = new StagingFolders(noted);
    for (const [path] of [...noted.entries()]) {
      await folders.#remove(path).catch((error: unknown) => {
        log.warn({ err: error }, `the staging folder ${path} could not be removed; the next start tries again`);
      });
    }
    return folders;
  }

  /**
   * Makes the folder and has it filled; `fill` moves it to its place at the end. Whatever happens, nothing is left at `path`.
   */
  async use<T>(path: string, fill: (path: string) => Promise<T>): Promise<T> {
    await this.#noted.set(path, true);
    try {
      await makeFolders(path);
      return await fill(path);
    } finally {
      // A folder that cannot be removed stays noted for the next start.
      await this.#remove(path).catch(() => undefined);
    }
  }

  close(): Promise<void> {
    return this.#noted.close();
  }

  async #remove(path: string): Promise<void> {
    await removeTree(path).catch((error: NodeJS.ErrnoException) => {
      // A file stands where its parent folder was: nothing is left of it.
      if (error.code !== 'ENOTDIR') throw error;
    });
    await this.#noted.delete(path);
  }
}
