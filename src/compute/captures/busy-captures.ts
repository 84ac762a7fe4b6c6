/** Capture files of all nodes that are being created or completed. */
import { fault } from '../../api/faults.ts';
import type { CaptureRecord } from '../store.ts';

export class BusyCaptures {
  /** Paths of files. */
  readonly #starting = new Set<string>();
  /** BusyCaptures whose files are being completed. */
  readonly #ending = new Set<CaptureRecord>();
  readonly #closed = new AbortController();

  /** Runs while no other capture starts with the same file. @throws capture_file_taken */
  async starting<T>(path: string, fn: () => Promise<T>): Promise<T> {
    if (this.#starting.has(path)) throw fault('capture_file_taken', { file: path.slice(path.lastIndexOf('/') + 1) });
    this.#starting.add(path);
    try {
      return await fn();
    } finally {
      this.#starting.delete(path);
    }
  }

  /** Runs what ends captures; readers wait for it, and then read to the end of the files. */
  async ending(captures: readonly CaptureRecord[], fn: () => Promise<void>): Promise<void> {
    for (const capture of captures) this.#ending.add(capture);
    try {
      await fn();
    } finally {
      for (const capture of captures) this.#ending.delete(capture);
    }
  }

  isEnding(capture: CaptureRecord): boolean {
    return this.#ending.has(capture);
  }

  /** Aborts when the server ends: streams end. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  close(): void {
    this.#closed.abort();
  }
}
