/**
 * MD5 sums of image files, which controllers compare to find out whether two computes have the same image. A sum is remembered in
 * memory with the file's size and modification time, and beside the image in `<image>.md5sum` (32 hex digits, GNS3's
 * form); that file counts only while it is at least as new as the image.
 */
import { stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { readRegularFile } from '../../lib/regular-file.ts';

interface Sum {
  readonly size: number;
  readonly mtimeMs: number;
  readonly md5: string;
}

export class Checksums {
  readonly #known = new Map<string, Sum>();
  readonly #waiting = new Map<string, PromiseWithResolvers<string | null>>();
  #worker: Worker | undefined;

  /** What is known now, without looking at the disk. */
  known(path: string): string | null {
    return this.#known.get(path)?.md5 ?? null;
  }

  /** The sum of a file. A file larger than `waitBytes` is summed in the background and gives null until that is done. */
  async get(path: string, waitBytes = Number.POSITIVE_INFINITY): Promise<string | null> {
    const facts = await stat(path).catch(() => undefined);
    if (!facts?.isFile()) return null;
    const { size, mtimeMs } = facts;
    const known = this.#known.get(path);
    if (known?.size === size && known.mtimeMs === mtimeMs) return known.md5;
    this.#known.delete(path);
    const written = await readSideFile(path, mtimeMs);
    if (written !== undefined) {
      this.#known.set(path, { size, mtimeMs, md5: written });
      return written;
    }
    const computed = this.#compute(path).then((md5) => {
      if (md5 === null) return null;
      this.#known.set(path, { size, mtimeMs, md5 });
      // A folder that cannot be written only costs the work again after the next start.
      void writeFileAtomic(`${path}.md5sum`, md5).catch(() => {});
      return md5;
    });
    return size <= waitBytes ? computed : null;
  }

  /** Ends the thread; sums that are asked for later start another. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    for (const waiting of this.#waiting.values()) waiting.resolve(null);
    this.#waiting.clear();
    await worker?.terminate();
  }

  #compute(path: string): Promise<string | null> {
    const running = this.#waiting.get(path);
    if (running !== undefined) return running.promise;
    const waiting = Promise.withResolvers<string | null>();
    this.#waiting.set(path, waiting);
    this.#thread().postMessage(path);
    return waiting.promise;
  }

  /** The thread keeps the process awake only while it has work. */
  #thread(): Worker {
    if (this.#worker === undefined) {
      const worker = new Worker(new URL('./md5-worker.ts', import.meta.url));
      worker.on('message', ({ path, md5 }: { path: string; md5: string | null }) => {
        this.#waiting.get(path)?.resolve(md5);
        this.#waiting.delete(path);
        if (this.#waiting.size === 0) worker.unref();
      });
      worker.on('error', () => void this.close());
      this.#worker = worker;
    }
    this.#worker.ref();
    return this.#worker;
  }
}

async function readSideFile(path: string, imageMtimeMs: number): Promise<string | undefined> {
  const sideFile = `${path}.md5sum`;
  const facts = await stat(sideFile).catch(() => undefined);
  if (facts === undefined || facts.size > 64 || facts.mtimeMs < imageMtimeMs) return undefined;
  const text = (await readRegularFile(sideFile).then(String, () => '')).trim().toLowerCase();
  return /^[0-9a-f]{32}$/.test(text) ? text : undefined;
}
