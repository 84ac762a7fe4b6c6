/**
 * The changes of a project before those in its log, as many as are worth keeping: for history, undo, and listeners that were away.
 * The file lies beside the project file. It is read when a request needs it or the log hands records over, not when the project is
 * opened; nothing that a project *is* depends on it, so a damaged one is put aside.
 */
import { Journal, JournalDamaged } from '../../lib/journal.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { setAside } from '../../lib/set-aside.ts';
import { checkRecords } from './read-records.ts';
import type { LogLine, LogRecord } from './records.ts';
import { keepSteps } from './steps.ts';

/** Records that are kept at least, with the steps that they belong to; twice as many at most. */
const keptRecords = 1_000;
/** Bytes of the file that are kept at least; twice as many at most. */
const keptBytes = 2 * 1024 * 1024;
/** Records that are kept when the last steps are long: the largest bulk change and its undo, each of up to 15,000 changes. */
const mostRecords = 40_000;

export function historyPath(projectFile: string): string {
  return `${projectFile}.history`;
}

export class ProjectHistory {
  readonly #path: string;
  readonly #reaches: number;
  #journal: Promise<Journal<LogLine>> | undefined;
  #records: LogRecord[] = [];
  #trimAbove = { records: 2 * keptRecords, bytes: 2 * keptBytes };

  /** `reaches`: number of the last change that it must hold to be of this project as it is. */
  constructor(projectFile: string, reaches: number) {
    this.#path = historyPath(projectFile);
    this.#reaches = reaches;
  }

  /** Returns the recorded changes, the oldest first. */
  async records(): Promise<readonly LogRecord[]> {
    await this.#open();
    return this.#records;
  }

  /** Takes over records of the log; those it has already are not taken again. Resolves when they are on disk. */
  async keep(records: readonly LogRecord[]): Promise<void> {
    if (records.length === 0) return;
    const journal = await this.#open();
    const last = this.#records.at(-1)?.seq ?? 0;
    const fresh = records.filter(({ seq }) => seq > last);
    if (fresh.length === 0) return;
    await journal.append(fresh);
    this.#records.push(...fresh);
    if (this.#records.length <= this.#trimAbove.records && journal.sizeBytes <= this.#trimAbove.bytes) return;
    const kept = newest(this.#records);
    await journal.restart(() => kept);
    this.#records = kept;
    // Long steps may have to stay: it is not tried again before there is as much again.
    this.#trimAbove = { records: 2 * Math.max(keptRecords, kept.length), bytes: 2 * Math.max(keptBytes, journal.sizeBytes) };
  }

  async close(): Promise<void> {
    await (await this.#journal?.catch(() => undefined))?.close();
  }

  /** Deletes the history of a project whose log is gone, or that is created anew. */
  static async forget(projectFile: string): Promise<void> {
    await removeTree(historyPath(projectFile));
  }

  #open(): Promise<Journal<LogLine>> {
    this.#journal ??= this.#read().catch((error: unknown) => {
      this.#journal = undefined;
      throw error;
    });
    return this.#journal;
  }

  async #read(): Promise<Journal<LogLine>> {
    const { journal, records } = await openChecked(this.#path).catch(async (error: unknown) => {
      if (!(error instanceof JournalDamaged)) throw error;
      await setAside(this.#path);
      return openChecked(this.#path);
    });
    this.#records = records;
    // The project was replaced since, by an older state of it.
    if (this.#records.length > 0 && (this.#records.at(-1)?.seq ?? 0) < this.#reaches) {
      await journal.restart(() => []);
      this.#records = [];
    }
    return journal;
  }
}

async function openChecked(path: string): Promise<{ journal: Journal<LogLine>; records: LogRecord[] }> {
  const { journal, records: lines } = await Journal.open<LogLine>(path);
  try {
    return { journal, records: await checkRecords(lines) };
  } catch (error) {
    await journal.close();
    throw error;
  }
}

function newest(records: readonly LogRecord[]): LogRecord[] {
  let bytes = 0;
  let first = records.length;
  while (first > 0 && records.length - first < keptRecords && bytes < keptBytes) {
    first -= 1;
    bytes += JSON.stringify(records[first]).length;
  }
  return keepSteps(records, first, mostRecords);
}
