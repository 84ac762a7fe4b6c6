/**
 * Makes the changes of one open project durable. It owns the project file and the log beside it and is the only one to write them.
 *
 * Theory of operation. A change is appended to the log and synced; then, in the order of the log, it takes effect in memory and is
 * sent to listeners. The file is a snapshot, written when the project has been quiet for a second, after 2,000 records, and when
 * a request needs it complete. A snapshot takes the state (references to frozen entries) and the number of the last change at one
 * instant, is written in slices while changes continue, and then the log starts anew: with a header that names that number, and the
 * records that came after it. Until that instant the old log is complete, so a crash anywhere in between loses nothing. The
 * records that leave the log go to the history first.
 *
 * Numbers of changes are tokens for listeners: they never come again. A project that has no log begins with the time of day.
 */
import { copyFile, lstat, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { type Fault, fault, isFault } from '../../api/faults.ts';
import { findRequester, type Requester } from '../../api/requester.ts';
import { syncFolder, writeFileAtomic } from '../../lib/atomic-file.ts';
import { Journal } from '../../lib/journal.ts';
import { setAside } from '../../lib/set-aside.ts';
import { Turns } from '../../lib/turns.ts';
import { readTopology } from '../model/read-topology.ts';
import type { Topology } from '../model/topology.ts';
import { topologyText } from '../model/topology-text.ts';
import type { WantedRun } from '../model/wanted.ts';
import { headerOf } from './begin-log.ts';
import { ProjectHistory } from './project-history.ts';
import { damaged, logPath, type ProjectState, replay, stateOf } from './project-state.ts';
import { checkRecords } from './read-records.ts';
import type { LogLine, LogRecord, ProjectChange, UdpPorts } from './records.ts';

/** Content of a snapshot of the project, taken at one instant. */
export interface Captured {
  readonly topology: Topology;
  readonly udpPorts: Readonly<Record<string, UdpPorts>>;
  readonly wanted: Readonly<Record<string, WantedRun>>;
  /** Nodes whose deletion has begun and is not recorded. */
  readonly deleting: readonly string[];
  readonly incarnation: number;
}
/** A change, with the work that follows when it is on disk. */
export interface Pending {
  readonly change: ProjectChange;
  readonly apply: (seq: number) => void;
  /** Whom it is put down to. Undefined: the requester of the moment. */
  readonly requester?: Requester | undefined;
}
export interface LogOptions {
  /** Written into project files. */
  readonly version: string;
  /** Called when a snapshot could not be written; the log still has every change. */
  readonly onSnapshotFailed: (error: unknown) => void;
  readonly quietMs?: number;
  readonly maxRecords?: number;
}
/** A project whose file was written just now. */
export interface NewProject {
  readonly topology: Topology;
  /** Makes the file and the names of its folder durable. Called before the first change, and again when it failed. Undefined: all is durable. */
  readonly settle?: () => Promise<void>;
}
export interface OpenedLog {
  /** The log, which takes its snapshots from `capture`. */
  readonly start: (capture: () => Captured) => ProjectLog;
  readonly state: ProjectState;
  /** Length of a last record that was incomplete and was cut off. */
  readonly cutBytes: number;
}

interface LogParts {
  readonly file: string;
  readonly journal: Journal<LogLine>;
  readonly kept: LogRecord[];
  /** Number of the last change, and of the last one before those in the log. */
  readonly seq: number;
  readonly base: number;
  /** Number of the last change that the history holds. */
  readonly remembered: number;
  readonly isNew: boolean;
  readonly isEarlier: boolean;
}

export class ProjectLog {
  readonly #file: string;
  readonly #journal: Journal<LogLine>;
  readonly #history: ProjectHistory;
  /** Number of the first change of each request. */
  readonly #steps = new WeakMap<Requester, number>();
  readonly #options: LogOptions;
  readonly #capture: () => Captured;
  /** Number of the last change that was appended, and of the last that took effect. */
  #appended: number;
  #applied: number;
  /** Number of the last change before those in the log. */
  #base: number;
  /** Number of the last change that the history holds. */
  #remembered: number;
  /** Records in the log that the project file does not hold. */
  #kept: LogRecord[];
  #snapshot: Promise<void> | undefined;
  /** Set while changes of the log take effect; settles when they have. */
  #effects: Promise<void> | undefined;
  /** Set while the state has changes that are not in the log. */
  #paused: Promise<void> | undefined;
  #quiet: NodeJS.Timeout | undefined;
  /** Number of records that calls for a snapshot; grows when one could not be written, so that not every change tries again. */
  #enough: number;
  #closed = false;
  /** The file holds all, and it and the log are not settled: nothing was changed since the project was created. */
  #isNew: boolean;
  /** The file was written by a version that cannot read wanted states. None is written before a copy of the file is kept. */
  #isEarlier: boolean;

  private constructor(
    { file, journal, kept, seq, base, remembered, isNew, isEarlier }: LogParts,
    options: LogOptions,
    capture: () => Captured,
  ) {
    this.#file = file;
    this.#remembered = remembered;
    this.#history = new ProjectHistory(file, remembered);
    this.#base = base;
    this.#journal = journal;
    this.#isNew = isNew;
    this.#isEarlier = isEarlier;
    this.#kept = kept;
    this.#options = options;
    this.#capture = capture;
    this.#appended = seq;
    this.#applied = seq;
    this.#enough = options.maxRecords ?? 2000;
  }

  /**
   * Reads file and log and opens the log for writing; it is closed by `close()` of the log that was started.
   * `created`: what the file holds, which is not read again.
   * @throws as `readTopology`; nothing is overwritten then
   */
  static async open(file: string, options: LogOptions, created?: NewProject): Promise<OpenedLog> {
    const { topology, upgradedFrom } = created ? { topology: created.topology } : await readTopology(file);
    const state = stateOf(topology, upgradedFrom);
    const settle = created?.settle;
    const { journal, records, cutBytes } = settle
      ? { journal: Journal.create<LogLine>(logPath(file), settle), records: [], cutBytes: 0 }
      : await openJournal(file);
    try {
      replay(state, records);
      if (records.length === 0) {
        state.seq = Date.now();
        if (!settle) await ProjectHistory.forget(file);
      }
    } catch (error) {
      await journal.close();
      throw error;
    }
    const [first] = records;
    const base = first?.action === 'project.snapshot' ? first.seq : (first?.seq ?? state.seq + 1) - 1;
    const kept = records.filter((record) => record.action !== 'project.snapshot');
    const remembered = first?.action === 'project.snapshot' ? (first.event.history ?? base) : base;
    const isNew = settle !== undefined;
    const parts = { file, journal, kept, seq: state.seq, base, remembered, isNew, isEarlier: isEarlier(records) };
    return { start: (capture) => new ProjectLog(parts, options, capture), state, cutBytes };
  }

  /**
   * Renames the log of an earlier project, whose file is gone, before the first file of a new one is written. It is neither adopted nor
   * lost.
   */
  static async clear(file: string): Promise<void> {
    const log = logPath(file);
    const found = await lstat(log).catch(() => undefined);
    if (found?.isFile() && found.size === 0) await rm(log);
    else if (found) {
      await setAside(log);
      await syncFolder(dirname(log));
    }
    await ProjectHistory.forget(file);
  }

  /**
   * Keeps the log of an earlier version beside this one, which that version cannot read from then on. The project file is brought
   * up to date first: that version continues from there. False, and nothing happens, for a log of this version. @throws
   * `storage_failed`
   */
  async keepEarlier(): Promise<boolean> {
    if (!this.#isEarlier) return false;
    await this.writeSnapshot();
    try {
      await copyFile(logPath(this.#file), earlierLogPath(this.#file));
      await syncFolder(dirname(this.#file));
    } catch (error) {
      throw storageFailed(error);
    }
    this.#isEarlier = false;
    return true;
  }

  get seq(): number {
    return this.#applied;
  }

  /** The log holds changes that the project file does not. */
  get isAhead(): boolean {
    return this.#kept.length > 0;
  }

  /**
   * Resolves when the change is on disk and has taken effect: `apply` is called in the order of the log.
   * @throws `storage_failed`; the change is not in the log then
   */
  append(change: ProjectChange, apply: (seq: number) => void): Promise<void> {
    return this.appendAll([{ change, apply }]);
  }

  /** Several changes that stand or fall together, also when the server dies. @throws `storage_failed`; none is in the log then */
  appendAll(pending: readonly Pending[]): Promise<void> {
    const records = pending.map(({ change, requester = findRequester() }) => this.#record(change, requester));
    const [first, ...more] = records;
    if (!first) return Promise.resolve();
    this.#isNew = false;
    return this.#journal.append(more.length === 0 ? first : records).then(
      async () => {
        // Nothing may come between the journal and this: a log that starts anew has the records that are kept.
        for (const record of records) this.#kept.push(record);
        await this.#takeEffect(records, pending);
        // Wanted states of nodes are in the log alone: the project file need not be written for them.
        this.#schedule({ isInFile: records.some(({ action }) => action !== 'node.wanted') });
      },
      (error: unknown) => {
        throw storageFailed(error);
      },
    );
  }

  /** Returns the changes that are remembered, the oldest first. All have taken effect: undo compares them with the state. */
  async records(): Promise<readonly LogRecord[]> {
    const before = await this.#history.records();
    while (this.#effects) await this.#effects;
    const [{ seq: first } = { seq: Number.POSITIVE_INFINITY }] = this.#kept;
    return [...before.filter(({ seq }) => seq < first), ...this.#kept];
  }

  /** The changes after `since` until now; undefined when they are not remembered any more, or a rewind is among them. */
  async recordsAfter(since: number): Promise<readonly LogRecord[] | undefined> {
    const until = this.#applied;
    const known = since >= this.#base ? this.#kept.slice() : await this.records();
    const oldest = since >= this.#base ? this.#base + 1 : known[0]?.seq;
    if (oldest === undefined || since < oldest - 1) return undefined;
    const missed = known.filter(({ seq }) => seq > since && seq <= until);
    return missed.some(({ action }) => action === 'project.rewound') ? undefined : missed;
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

  /** Keeps snapshots from taking the state until the returned function is called. */
  pauseSnapshots(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#paused = promise;
    return () => {
      this.#paused = undefined;
      resolve();
    };
  }

  /** Waits for appended records and closes the files. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#quiet);
    while (this.#snapshot) await this.#snapshot.catch(() => undefined);
    await this.#journal.close();
    while (this.#effects) await this.#effects;
    await this.#history.close();
  }

  #record({ udpPorts, undoable, ...change }: ProjectChange, requester: Requester | undefined): LogRecord {
    this.#appended += 1;
    const seq = this.#appended;
    const step = undoable && requester ? (this.#steps.get(requester) ?? seq) : undefined;
    if (requester && step === seq) this.#steps.set(requester, seq);
    return {
      seq,
      at: new Date().toISOString(),
      by: requester?.by ?? null,
      ...(step !== undefined && { step }),
      ...(step !== undefined && requester?.inverts !== undefined && { inverts: requester.inverts }),
      ...change,
      ...(udpPorts && { udp_ports: udpPorts }),
    };
  }

  /** Has changes take effect in the order of the log, and in short turns: one request may make thousands of objects. */
  async #takeEffect(records: readonly LogRecord[], pending: readonly Pending[]): Promise<void> {
    const before = this.#effects;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#effects = promise;
    try {
      if (before) await before;
      const turns = new Turns();
      for (const [index, record] of records.entries()) {
        this.#applied = record.seq;
        pending[index]?.apply(record.seq);
        if (turns.isOver) await turns.next();
      }
    } finally {
      if (this.#effects === promise) this.#effects = undefined;
      resolve();
    }
  }

  async #write(): Promise<void> {
    while (this.#paused || this.#effects) await (this.#paused ?? this.#effects);
    if (this.#isNew) return this.#journal.settle();
    const seq = this.#applied;
    const { topology, udpPorts, wanted, deleting, incarnation } = this.#capture();
    await writeFileAtomic(this.#file, await topologyText(topology, this.#options.version));
    // Undo does not revert wanted states, and listeners are not notified of them.
    const remembered = this.#kept.filter(({ seq: each, action }) => each <= seq && action !== 'node.wanted');
    await this.#history.keep(remembered);
    this.#remembered = remembered.at(-1)?.seq ?? this.#remembered;
    const rare = { ...(deleting.length > 0 && { deleting }), ...(incarnation > 0 && { incarnation }) };
    const ofThisVersion = { wanted, history: this.#remembered, ...rare };
    const header = headerOf(seq, { udp_ports: udpPorts, ...(!this.#isEarlier && ofThisVersion) });
    await this.#journal.restart(() => [header, ...this.#kept.filter((record) => record.seq > seq)]);
    this.#kept = this.#kept.filter((record) => record.seq > seq);
    this.#base = seq;
    this.#enough = this.#options.maxRecords ?? 2000;
  }

  #schedule({ isInFile }: { isInFile: boolean }): void {
    if (this.#closed) return;
    if (this.#kept.length >= this.#enough) this.#start();
    else if (!isInFile) return;
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

/** Path of the copy of a log that an earlier version wrote and can still read. */
function earlierLogPath(file: string): string {
  return `${logPath(file)}.backup`;
}

function isEarlier(records: readonly LogRecord[]): boolean {
  const knowsWanted = (record: LogRecord) =>
    record.action === 'node.wanted' || (record.action === 'project.snapshot' && record.event.wanted !== undefined);
  return records.length > 0 && !records.some(knowsWanted);
}

async function openJournal(file: string): Promise<{ journal: Journal<LogLine>; records: LogRecord[]; cutBytes: number }> {
  try {
    const { journal, records: lines, cutBytes } = await Journal.open<LogLine>(logPath(file));
    try {
      return { journal, records: await checkRecords(lines), cutBytes };
    } catch (error) {
      await journal.close();
      throw error;
    }
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
