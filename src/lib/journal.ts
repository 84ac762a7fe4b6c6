/**
 * A file of JSON records, one a line, to which records are only ever appended; `append` resolves when the record is on disk.
 *
 * Theory of operation. Appends that come together share one write, which returns when it is on disk (O_DSYNC: one call instead of a
 * write and an `fdatasync`): while a group is being written the next one gathers, so the cost of durability is that of a group, not of
 * a record. A line holds a checksum and the record; a last line that was torn by a crash is cut off at opening, anything else that is
 * wrong is `JournalDamaged` and the file is left as it is. A group that cannot be written is cut off again, its appends are refused in
 * reverse order (so that callers can undo in reverse order), and the journal goes on with the next group. `restart` replaces the file
 * atomically by a shorter one.
 */
import { constants, type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { syncFolder, writeFileAtomic } from './atomic-file.ts';

const appendSynced = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_DSYNC;

export class JournalDamaged extends Error {
  override readonly name = 'JournalDamaged';
}

interface PendingRecord {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface OpenedJournal<R> {
  journal: Journal<R>;
  records: R[];
  /** Length of the torn last record that was cut off. */
  cutBytes: number;
}

export class Journal<R> {
  readonly path: string;
  #file: FileHandle;
  #size: number;
  #waiting: PendingRecord[] = [];
  readonly #restarts: (() => Promise<void>)[] = [];
  #working: Promise<void> | undefined;
  #closed = false;

  private constructor(path: string, file: FileHandle, size: number) {
    this.path = path;
    this.#file = file;
    this.#size = size;
  }

  /**
   * Opens or creates the journal.
   * @throws JournalDamaged when a line other than a torn last one cannot be read; the file is not changed.
   */
  static async open<R>(path: string): Promise<OpenedJournal<R>> {
    const content = await readOrEmpty(path);
    const { records, goodBytes } = readRecords<R>(content, path);
    const file = await open(path, appendSynced);
    if (goodBytes < content.length) {
      await file.truncate(goodBytes);
      await file.datasync();
    }
    if (content.length === 0) await syncFolder(dirname(path));
    return { journal: new Journal<R>(path, file, goodBytes), records, cutBytes: content.length - goodBytes };
  }

  /** Reads the records without opening the journal for writing; a torn last record is left where it is. */
  static async read<R>(path: string): Promise<R[]> {
    return readRecords<R>(await readOrEmpty(path), path).records;
  }

  /** Bytes of the file that are known to be on disk. */
  get sizeBytes(): number {
    return this.#size;
  }

  /** Resolves when the record is on disk; rejects when it could not be written, and then it is not in the file. */
  append(record: R): Promise<void> {
    if (this.#closed) return Promise.reject(new Error(`The journal ${this.path} is closed`));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ line: encode(record), resolve, reject });
    this.#working ??= this.#work();
    return promise;
  }

  /**
   * Replaces the file by what `records` returns. It is called when nothing is being written: every append that has resolved is in the
   * old file, and those that wait will go into the new one; so it must return what is to be kept of the resolved ones.
   */
  async restart(records: () => readonly R[]): Promise<void> {
    if (this.#closed) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#restarts.push(() => this.#replace(records().map(encode).join('')).then(resolve, reject));
    this.#working ??= this.#work();
    await promise;
  }

  /** Waits for what was appended and closes the file. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#working;
    await this.#file.close();
  }

  async #work(): Promise<void> {
    // One turn of the loop lets appends of the same burst join the first group.
    await new Promise(setImmediate);
    for (;;) {
      const restart = this.#restarts.shift();
      if (restart) await restart();
      else if (this.#waiting.length > 0) await this.#writeGroup();
      else break;
    }
    this.#working = undefined;
  }

  async #writeGroup(): Promise<void> {
    const group = this.#waiting;
    this.#waiting = [];
    try {
      const bytes = Buffer.from(group.map((entry) => entry.line).join(''));
      await this.#file.appendFile(bytes);
      this.#size += bytes.length;
      for (const entry of group) entry.resolve();
    } catch (error) {
      await this.#file.truncate(this.#size).catch(() => undefined);
      for (const entry of group.reverse()) entry.reject(error);
    }
  }

  async #replace(text: string): Promise<void> {
    await writeFileAtomic(this.path, text);
    const file = await open(this.path, appendSynced);
    await this.#file.close();
    this.#file = file;
    this.#size = Buffer.byteLength(text);
  }
}

function encode(record: unknown): string {
  const text = JSON.stringify(record);
  return `${crc32(text).toString(16).padStart(8, '0')} ${text}\n`;
}

async function readOrEmpty(path: string): Promise<Buffer> {
  try {
    // A special file (a device in a test, say) holds no records, and reading one may never end.
    return (await stat(path)).isFile() ? await readFile(path) : Buffer.alloc(0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

function readRecords<R>(content: Buffer, path: string): { records: R[]; goodBytes: number } {
  const records: R[] = [];
  let start = 0;
  while (start < content.length) {
    const end = content.indexOf(10, start);
    const record = end < 0 ? undefined : decode<R>(content.toString('utf8', start, end));
    if (record === undefined) {
      const isLast = end < 0 || end === content.length - 1;
      if (isLast) break;
      throw new JournalDamaged(`${path} cannot be read from byte ${start} on`);
    }
    records.push(record);
    start = end + 1;
  }
  return { records, goodBytes: start };
}

function decode<R>(line: string): R | undefined {
  const text = line.slice(9);
  if (line[8] !== ' ' || line.slice(0, 8) !== crc32(text).toString(16).padStart(8, '0')) return undefined;
  try {
    return JSON.parse(text) as R;
  } catch {
    return undefined;
  }
}
