/**
 * Checksums of image files. MD5 sums, which controllers compare to find out whether two computes have the same image. A sum is remembered in
 * memory with the file's size and modification time, and beside the image in `<image>.md5sum` (32 hex digits, GNS3's
 * form); that file counts only while it is at least as new as the image. SHA-256, by which images are sent between computes, is remembered in
 * memory only.
 */
import { rm, stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { readRegularFile } from '../../lib/regular-file.ts';

/** Identity of a file's content, as far as its metadata shows it. */
interface FileIdentity {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
}
interface Sum extends FileIdentity {
  readonly md5: string;
}

export class Checksums {
  readonly #known = new Map<string, Sum>();
  /** SHA-256 of the content that a path had. */
  readonly #sha256 = new Map<string, FileIdentity & { readonly sum: string }>();
  /** Running computations by path and content. */
  readonly #waiting = new Map<string, PromiseWithResolvers<string | null>>();
  /** The last sum that is being stored, by path. */
  readonly #storing = new Map<string, Promise<unknown>>();
  #worker: Worker | undefined;

  /** Returns the known sum without a look at the disk. */
  known(path: string): string | null {
    return this.#known.get(path)?.md5 ?? null;
  }

  /** The sum of a file. A file larger than `waitBytes` is summed in the background and gives null until that is done. */
  async get(path: string, waitBytes = Number.POSITIVE_INFINITY): Promise<string | null> {
    const facts = await factsOf(path);
    if (facts === undefined) return null;
    const known = this.#known.get(path);
    if (known && isSame(known, facts)) return known.md5;
    this.#known.delete(path);
    const written = await readSideFile(path, facts.mtimeMs);
    if (written !== undefined) {
      this.#known.set(path, { ...facts, md5: written });
      return written;
    }
    const computed = this.#compute('md5', path, facts).then((md5) => (md5 === null ? null : this.#store(path, { ...facts, md5 })));
    return facts.size <= waitBytes ? computed : null;
  }

  /** SHA-256 of a file, however large; null when it cannot be read, or changed meanwhile. */
  async sha256(path: string): Promise<string | null> {
    const facts = await factsOf(path);
    if (facts === undefined) return null;
    const known = this.#sha256.get(path);
    if (known && isSame(known, facts)) return known.sum;
    this.#sha256.delete(path);
    const sum = await this.#compute('sha256', path, facts);
    const now = await factsOf(path);
    if (sum === null || now === undefined || !isSame(now, facts)) return null;
    this.#sha256.set(path, { ...facts, sum });
    return sum;
  }

  /** The file has another name now: its SHA-256 stays known. */
  renamed(from: string, to: string): void {
    const known = this.#sha256.get(from);
    if (known) this.#sha256.set(to, known);
    this.#sha256.delete(from);
  }

  /** The file was removed or replaced: its sum goes, and one that is being computed is not stored. Never rejects. */
  async forget(path: string): Promise<void> {
    this.#known.delete(path);
    this.#sha256.delete(path);
    // A write that began before the file was removed must end first; a later write sees that the file is missing.
    await this.#storing.get(path);
    this.#known.delete(path);
    await rm(`${path}.md5sum`, { force: true }).catch(() => undefined);
  }

  /** Null when the file is another by now. */
  async #store(path: string, sum: Sum): Promise<string | null> {
    const before = this.#storing.get(path);
    const stored = (async () => {
      await before;
      const facts = await factsOf(path);
      if (facts === undefined || !isSame(sum, facts)) return null;
      this.#known.set(path, sum);
      // A folder that cannot be written only costs the work again after the next start.
      await writeFileAtomic(`${path}.md5sum`, sum.md5).catch(() => undefined);
      return sum.md5;
    })();
    this.#storing.set(path, stored);
    try {
      return await stored;
    } finally {
      if (this.#storing.get(path) === stored) this.#storing.delete(path);
    }
  }

  /** Ends the thread; sums that are asked for later start another. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    for (const waiting of this.#waiting.values()) waiting.resolve(null);
    this.#waiting.clear();
    await worker?.terminate();
  }

  #compute(algorithm: 'md5' | 'sha256', path: string, { size, mtimeMs, ino }: FileIdentity): Promise<string | null> {
    const key = `${algorithm} ${size} ${mtimeMs} ${ino} ${path}`;
    const running = this.#waiting.get(key);
    if (running !== undefined) return running.promise;
    const waiting = Promise.withResolvers<string | null>();
    this.#waiting.set(key, waiting);
    this.#thread().postMessage({ key, path, algorithm });
    return waiting.promise;
  }

  /** The thread keeps the process awake only while it has work. */
  #thread(): Worker {
    if (this.#worker === undefined) {
      const worker = new Worker(new URL('./checksum-worker.ts', import.meta.url));
      worker.on('message', ({ key, sum }: { key: string; sum: string | null }) => {
        this.#waiting.get(key)?.resolve(sum);
        this.#waiting.delete(key);
        if (this.#waiting.size === 0) worker.unref();
      });
      worker.on('error', () => void this.close());
      this.#worker = worker;
    }
    this.#worker.ref();
    return this.#worker;
  }
}

/** Undefined: there is no file. */
async function factsOf(path: string): Promise<FileIdentity | undefined> {
  const facts = await stat(path).catch(() => undefined);
  return facts?.isFile() ? { size: facts.size, mtimeMs: facts.mtimeMs, ino: facts.ino } : undefined;
}

function isSame(one: FileIdentity, other: FileIdentity): boolean {
  return one.size === other.size && one.mtimeMs === other.mtimeMs && one.ino === other.ino;
}

async function readSideFile(path: string, imageMtimeMs: number): Promise<string | undefined> {
  const sideFile = `${path}.md5sum`;
  const facts = await stat(sideFile).catch(() => undefined);
  if (facts === undefined || facts.size > 64 || facts.mtimeMs < imageMtimeMs) return undefined;
  const text = (await readRegularFile(sideFile).then(String, () => '')).trim().toLowerCase();
  return /^[0-9a-f]{32}$/.test(text) ? text : undefined;
}
