/** Folders that are being filled and do not count yet. They are noted first, so that a server that dies in between removes them later. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DurableMap } from '../../lib/durable-map.ts';
import { makeFolders } from '../../lib/make-folders.ts';

export class PassingFolders {
  readonly #noted: DurableMap<true>;

  private constructor(noted: DurableMap<true>) {
    this.#noted = noted;
  }

  /** Removes what an earlier server left behind. */
  static async open(stateDirectory: string): Promise<PassingFolders> {
    const noted = await DurableMap.open<true>(join(stateDirectory, 'passing.log'));
    for (const [path] of [...noted.entries()]) {
      await rm(path, { recursive: true, force: true });
      await noted.delete(path);
    }
    return new PassingFolders(noted);
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
      await rm(path, { recursive: true, force: true });
      await this.#noted.delete(path).catch(() => undefined);
    }
  }

  close(): Promise<void> {
    return this.#noted.close();
  }
}
