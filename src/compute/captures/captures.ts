/** What the captures of all nodes have in common: which begin or end now. */
import { fault } from '../../api/faults.ts';

export class Captures {
  /** Paths of files. */
  readonly #beginning = new Set<string>();
  /** Ids of captures whose files are being completed. */
  readonly #ending = new Set<string>();
  readonly #closed = new AbortController();

  /** Runs while nothing else begins with the same file. @throws capture_file_taken */
  async beginning<T>(path: string, fn: () => Promise<T>): Promise<T> {
    if (this.#beginning.has(path)) throw fault('capture_file_taken', { file: path.slice(path.lastIndexOf('/') + 1) });
    this.#beginning.add(path);
    try {
      return await fn();
    } finally {
      this.#beginning.delete(path);
    }
  }

  /** Runs what ends captures; readers wait for it, and then for the end of the files. */
  async ending(ids: readonly string[], fn: () => Promise<void>): Promise<void> {
    for (const id of ids) this.#ending.add(id);
    try {
      await fn();
    } finally {
      for (const id of ids) this.#ending.delete(id);
    }
  }

  isEnding(id: string): boolean {
    return this.#ending.has(id);
  }

  /** The server ends: readers are let go. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  close(): void {
    this.#closed.abort();
  }
}
