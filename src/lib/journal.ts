/**
 * A file of JSON records, one per line, to which records are only appended; `append` resolves when the record is on disk.
 *
 * Theory of operation. Concurrent appends share one write, which returns when it is on disk (O_DSYNC: one call instead of a write
 * and an `fdatasync`). The next group gathers while one is written, so durability costs one write per group, not per record. A line
 * holds a checksum and the record. A last line that a crash tore is cut off at opening. Any other fault is `JournalDamaged` and
 * leaves the file unchanged; where records are independent (`openSalvaged`), a copy is kept and the readable records go into a new
 * file. A group that cannot be written is cut off again, its appends are refused, and the journal continues with the next group.
 * Nothing is written after a group that could not be cut off. `restart` replaces the file atomically by a shorter one.
 */
import { constants, type FileHandle, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder, writeFileAtomic } from './atomic-file.ts';
import { encode, encodeAll, readRecords, salvageRecords } from './journal-lines.ts';
import { readRegularFile } from './regular-file.ts';
import { isDamage, keepCopy, setAside, type Warn } from './set-aside.ts';

const appendSynced = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_DSYNC;

export class JournalDamaged extends Error {
  override readonly name = 'JournalDamaged';
}

interface PendingRecord {
  readonly record: unknown;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface OpenedJournal<R> {
  journal: Journal<R>;
  records: R[];
  /** Length of the torn last record that was cut off, bytes. */
  cutBytes: number;
}

export class Journal<R> {
  readonly path: string;
  #make: () => Promise<FileHandle>;
  /** Undefined until the file is created. */
  #file: FileHandle | undefined;
  #size: number;
  /** Whether refused records may lie in the file after its first `#size` bytes. */
  #hasRefused = false;
  #waiting: PendingRecord[] = [];
  readonly #tasks: (() => Promise<void>)[] = [];
  #working: Promise<void> | undefined;
  #closed = false;

  private constructor(path: string, file: FileHandle | (() => Promise<FileHandle>), size: number) {
    this.path = path;
    this.#file = typeof file === 'function' ? undefined : file;
    this.#make = typeof file === 'function' ? file : () => Promise.resolve(file);
    this.#size = size;
  }

  /**
   * Opens or creates the journal.
   * @throws JournalDamaged when a line other than a torn last one cannot be read; the file is not changed.
   */
  static async open<R>(path: string): Promise<OpenedJournal<R>> {
    const content = await readOrEmpty(path);
    const { records, goodBytes } = await readGood<R>(content, path);
    const file = await open(path, appendSynced);
    if (goodBytes < content.length) {
      await file.truncate(goodBytes);
      await file.datasync();
    }
    if (content.length === 0) await syncFolder(dirname(path));
    return { journal: new Journal<R>(path, file, goodBytes), records, cutBytes: content.length - goodBytes };
  }

  /**
   * Returns a new journal, whose file is created when first needed. `settle` makes its name durable: no record is written before. A
   * failure is retried for the next record.
   */
  static create<R>(path: string, settle: () => Promise<void>): Journal<R> {
    const make = async () => {
      const file = await open(path, appendSynced);
      try {
        await settle();
      } catch (error) {
        await file.close();
        throw error;
      }
      return file;
    };
    return new Journal<R>(path, make, 0);
  }

  /** Reads the records without opening the journal for writing; a torn last record is left where it is. */
  static async read<R>(path: string): Promise<R[]> {
    return (await readGood<R>(await readOrEmpty(path), path)).records;
  }

  /**
   * Opens a journal of independent records: unreadable ones are reported and left out, and a copy of the damaged file is kept.
   * Anything but a file at the path is moved away.
   */
  static async openSalvaged<R>(path: string, warn: Warn): Promise<OpenedJournal<R>> {
    try {
      const opened = await Journal.open<R>(path);
      if (opened.cutBytes > 0) warn(`The last record of ${path} was incomplete and was left out (${opened.cutBytes} bytes)`);
      return opened;
    } catch (error) {
      if (!(error instanceof JournalDamaged)) throw error;
      const content = await readOrEmpty(path).catch(() => undefined);
      const { records, lost } = content ? await salvageRecords<R>(content) : { records: [], lost: 0 };
      const aside = content ? await keepCopy(path) : await setAside(path);
      await writeFileAtomic(path, records.map(encode).join(''));
      const kept = content ? `${records.length} of its records are kept, ${lost} could not be read` : 'The server does without it';
      warn(`${error.message}. What was there is now ${aside}. ${kept}`);
      return Journal.open<R>(path);
    }
  }

  /** Bytes of the file that are known to be on disk. */
  get sizeBytes(): number {
    return this.#size;
  }

  /**
   * Appends a record, which must not change afterwards. Resolves when it is on disk; rejects when it could not be written, and then
   * it is not in the file.
   */
  append(record: R): Promise<void> {
    if (this.#closed) return Promise.reject(new Error(`The journal ${this.path} is closed`));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ record, resolve, reject });
    this.#working ??= this.#work();
    return promise;
  }

  /**
   * Replaces the file by the records that `records` returns. It is called between two writes: every append that has resolved is in
   * the old file, and waiting ones go into the new one. So it must return what is to be kept of the resolved ones.
   */
  restart(records: () => readonly R[]): Promise<void> {
    return this.#between(async () => this.#replace(await encodeAll(records())));
  }

  /** Creates the file of a new journal unless it exists. */
  settle(): Promise<void> {
    return this.#between(() => this.#opened());
  }

  /** Waits for all appends and closes the file. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#working;
    await this.#file?.close();
  }

  async #work(): Promise<void> {
    // A turn of the loop lets appends of the same burst join the first group.
    await new Promise(setImmediate);
    for (;;) {
      const task = this.#tasks.shift();
      if (task) await task();
      else if (this.#waiting.length > 0) await this.#writeGroup();
      else break;
    }
    this.#working = undefined;
  }

  /** Runs a function between two writes; not at all when the journal is closed. */
  async #between(run: () => Promise<unknown>): Promise<void> {
    if (this.#closed) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#tasks.push(() => run().then(() => resolve(), reject));
    this.#working ??= this.#work();
    await promise;
  }

  async #opened(): Promise<FileHandle> {
    this.#file ??= await this.#make();
    return this.#file;
  }

  async #writeGroup(): Promise<void> {
    const group = this.#waiting;
    this.#waiting = [];
    try {
      const file = await this.#opened();
      await this.#cutRefused(file);
      const bytes = await encodeAll(group.map(({ record }) => record));
      this.#hasRefused = true;
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
      this.#hasRefused = false;
      this.#size += bytes.length;
      for (const entry of group) entry.resolve();
    } catch (error) {
      if (this.#file) await this.#cutRefused(this.#file).catch(() => undefined);
      for (const entry of group) entry.reject(error);
    }
  }

  async #cutRefused(file: FileHandle): Promise<void> {
    if (!this.#hasRefused) return;
    if ((await file.stat()).size > this.#size) {
      await file.truncate(this.#size);
      await file.datasync();
    }
    this.#hasRefused = false;
  }

  async #replace(content: Buffer): Promise<void> {
    const old = await this.#opened();
    await this.#cutRefused(old);
    try {
      await writeFileAtomic(this.path, content);
      this.#file = await open(this.path, appendSynced);
      this.#size = content.length;
    } catch (error) {
      // The new file may have the name already, and writes to the unlinked old file would be lost.
      this.#file = undefined;
      this.#make = () => this.#openAgain();
      throw error;
    } finally {
      await old.close();
    }
  }

  /** Opens the file that has the name now. */
  async #openAgain(): Promise<FileHandle> {
    const file = await open(this.path, appendSynced);
    try {
      await syncFolder(dirname(this.path));
      this.#size = (await file.stat()).size;
    } catch (error) {
      await file.close();
      throw error;
    }
    return file;
  }
}

async function readOrEmpty(path: string): Promise<Buffer> {
  try {
    // A device (in a test) holds no records, and reading it may never end.
    return (await stat(path)).isCharacterDevice() ? Buffer.alloc(0) : await readRegularFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    if (!isDamage(error)) throw error;
    throw new JournalDamaged(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Reads all records of intact content. @throws JournalDamaged */
async function readGood<R>(content: Buffer, path: string): Promise<{ records: R[]; goodBytes: number }> {
  const { records, goodBytes, isTorn } = await readRecords<R>(content);
  if (!isTorn) throw new JournalDamaged(`${path} cannot be read from byte ${goodBytes} on`);
  return { records, goodBytes };
}
