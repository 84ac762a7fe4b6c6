/**
 * The folders in which images are being converted, kept on disk before they are made: a server that is killed leaves no half of an image, as
 * the next one removes them. The image folder may be shared with other servers, so none is found by its name alone.
 */
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { Mutex } from '../../lib/mutex.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { list, text } from '../../lib/shape.ts';
import { unfinishedEnd } from '../host/images.ts';

const Folders = list(text);
/** Size limit of the record: some hundred paths. */
const maxRecordBytes = 1024 * 1024;

export class UnfinishedImages {
  readonly #record: string;
  readonly #folders = new Set<string>();
  readonly #changing = new Mutex();
  #recovery: Promise<void> | undefined;

  /** `record` may not exist yet. */
  constructor(record: string) {
    this.#record = record;
  }

  /** Removes what a server left that was killed. Done once; never rejects. */
  recover(): Promise<void> {
    this.#recovery ??= this.#changing.run(async () => {
      const found = parse(await readRegularFile(this.#record, maxRecordBytes).then(String, () => '[]'));
      const own = found.filter((path) => path.endsWith(unfinishedEnd));
      for (const path of own) await removeTree(path).catch(() => undefined);
      if (found.length > 0) await this.#write().catch(() => undefined);
    });
    return this.#recovery;
  }

  /** The folder of `image` is recorded while `work` runs, which removes it. @throws errors of the system */
  async during<T>(image: string, work: () => Promise<T>): Promise<T> {
    const folder = `${image}${unfinishedEnd}`;
    await this.recover();
    await this.#changing.run(() => {
      this.#folders.add(folder);
      return this.#write();
    });
    try {
      return await work();
    } finally {
      await this.#changing.run(() => {
        this.#folders.delete(folder);
        return this.#write().catch(() => undefined);
      });
    }
  }

  #write(): Promise<void> {
    return writeFileAtomic(this.#record, JSON.stringify([...this.#folders]));
  }
}

/** A damaged record names nothing. */
function parse(content: string): string[] {
  try {
    const value: unknown = JSON.parse(content);
    return Folders.problem(value, 'folders') === undefined ? (value as string[]) : [];
  } catch {
    return [];
  }
}
