/**
 * Makes the changes of one open project durable. It owns the project file and the log beside it and is the only one to write them.
 *
 * Theory of operation. A change is appended to the log and synced; then, in the order of the log, it takes effect in memory and is
 * told to listeners. The file is a snapshot, written when the project has been quiet for a second, after 2,000 records, and when
 * somebody needs it complete. A snapshot takes the state (references to frozen entries) and the number of the last change at one
 * instant, is written in slices while changes go on, and then the log starts anew: with a header that names that number, and the
 * records that came after it. Until that instant the old log says everything, so a crash anywhere in between loses nothing.
 */
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Fault, fault, isFault } from '../api/faults.ts';
import { writeFileAtomic } from '../lib/atomic-file.ts';
import { Journal } from '../lib/journal.ts';
import {
  damaged,
  type LogRecord,
  logPath,
  type ProjectState,
  replay,
  snapshotAction,
  stateOf,
  type UdpPorts,
} from './project-state.ts';
import { readTopology, type Topology } from './topology.ts';
import { topologyText } from './topology-text.ts';

/** What a snapshot holds; taken at one instant. */
export interface Captured {
  readonly topology: Topology;
  readonly udpPorts: Readonly<Record<string, UdpPorts>>;
}
export interface Change {
  readonly action: string;
  readonly event: object;
  readonly was: object | null;
  readonly udpPorts?: UdpPorts;
}
export interface LogOptions {
  /** Written into project files. */
  readonly version: string;
  /** Told when a snapshot could not be written; the log then goes on being the truth. */
  readonly onSnapshotFailed: (error: unknown) => void;
  readonly quietMs?: number;
  readonly maxRecords?: number;
}
export interface OpenedLog {
  readonly log: ProjectLog;
  readonly state: ProjectState;
}

export class ProjectLog {
  readonly #file: string;
  readonly #journal: Journal<LogRecord>;
  readonly #options: LogOptions;
  #capture: (() => Captured) | undefined;
  /** Number of the last change that was appended, and of the last that took effect. */
  #appended: number;
  #applied: number;
  /** Records in the log that the project file does not hold. */
  #kept: LogRecord[] = [];
  #snapshot: Promise<void> | undefined;
  #quiet: NodeJS.Timeout | undefined;
  /** Number of records that calls for a snapshot; grows when one could not be written, so that not every change tries again. */
  #enough: number;
  #closed = false;

  private constructor(file: string, journal: Journal<LogRecord>, seq: number, options: LogOptions) {
    this.#file = file;
    this.#journal = journal;
    this.#options = options;
    this.#appended = seq;
    this.#applied = seq;
    this.#enough = options.maxRecords ?? 2000;
  }

  /** Reads file and log and opens the log for writing. @throws as `readTopology`; nothing is overwritten then */
  static async open(file: string, options: LogOptions): Promise<OpenedLog> {
    const { topology, upgradedFrom } = await readTopology(file);
    const state = stateOf(topology, upgradedFrom);
    const { journal, records } = await openJournal(file);
    try {
      replay(state, records, file);
    } catch (error) {
      await journal.close();
      throw error;
    }
    const log = new ProjectLog(file, journal, state.seq, options);
    log.#kept = records.filter((record) => record.action !== snapshotAction);
    return { log, state };
  }

  /** Writes the first file of a project; a log that lies there is of another one and goes. */
  static async create(file: string, topology: Topology, version: string): Promise<void> {
    await rm(logPath(file), { force: true });
    await writeFileAtomic(file, await topologyText(topology, version));
  }

  get seq(): number {
    return this.#applied;
  }

  /** The log holds changes that the project file does not. */
  get isAhead(): boolean {
    return this.#kept.length > 0;
  }

  /** Where snapshots get the state from. */
  snapshotFrom(capture: () => Captured): void {
    this.#capture = capture;
  }

  /**
   * Resolves when the change is on disk and has taken effect: `apply` is called in the order of the log.
   * @throws `storage_failed`; the change is not in the log then
   */
  append(change: Change, apply: () => void): Promise<void> {
    this.#appended += 1;
    const record: LogRecord = {
      seq: this.#appended,
      at: new Date().toISOString(),
      by: null,
      action: change.action,
      event: change.event,
      was: change.was,
      ...(change.udpPorts && { udp_ports: change.udpPorts }),
    };
    // Nothing may come between the journal and the effect: a snapshot relies on everything that is in the log having taken effect.
    return this.#journal.append(record).then(
      () => {
        this.#kept.push(record);
        this.#applied = record.seq;
        apply();
        this.#schedule();
      },
      (error: unknown) => {
        throw storageFailed(error);
      },
    );
  }

  /** Brings the project file up to date and starts the log anew. @throws `storage_failed`; file and log are as good as before */
  async writeSnapshot(): Promise<void> {
    while (this.#snapshot) await this.#snapshot.catch(() => undefined);
    this.#snapshot = this.#write();
    try {
      await this.#snapshot;
    } catch (error) {
      throw storageFailed(error);
    } finally {
      this.#snapshot = undefined;
    }
  }

  /** Waits for what was appended and lets go of the files. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#quiet);
    while (this.#snapshot) await this.#snapshot.catch(() => undefined);
    await this.#journal.close();
  }

  async #write(): Promise<void> {
    if (!this.#capture) return;
    const seq = this.#applied;
    const { topology, udpPorts } = this.#capture();
    await writeFileAtomic(this.#file, await topologyText(topology, this.#options.version));
    const header = {
      seq,
      at: new Date().toISOString(),
      by: null,
      action: snapshotAction,
      event: { udp_ports: udpPorts },
      was: null,
    };
    await this.#journal.restart(() => [header, ...this.#kept.filter((record) => record.seq > seq)]);
    this.#kept = this.#kept.filter((record) => record.seq > seq);
    this.#enough = this.#options.maxRecords ?? 2000;
  }

  #schedule(): void {
    if (this.#closed) return;
    if (this.#kept.length >= this.#enough) this.#start();
    else if (this.#quiet) this.#quiet.refresh();
    else this.#quiet = setTimeout(() => this.#start(), this.#options.quietMs ?? 1000).unref();
  }

  #start(): void {
    if (this.#closed || this.#snapshot) return;
    this.writeSnapshot().catch((error: unknown) => {
      this.#enough = this.#kept.length + (this.#options.maxRecords ?? 2000);
      this.#options.onSnapshotFailed(error);
    });
  }
}

async function openJournal(file: string): Promise<{ journal: Journal<LogRecord>; records: LogRecord[] }> {
  try {
    return await Journal.open<LogRecord>(logPath(file));
  } catch (error) {
    const known = damaged(file, error);
    throw storageFailed(known, basename(file));
  }
}

/** The fault for an error of the file system; faults stay what they are. */
export function storageFailed(error: unknown, what?: string): Fault {
  if (isFault(error)) return error;
  const reason = (error as Error).message;
  return fault('storage_failed', { reason: what === undefined ? reason : `${what}: ${reason}` }, { cause: error });
}
