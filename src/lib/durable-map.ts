/**
 * A map whose changes are on disk when they are acknowledged. Reads see a change at once. A change that cannot be written is
 * rejected, and its key then has its latest change that was not rejected. The journal is rewritten when it holds far more records,
 * or bytes, than the map. A damaged journal is reported and copied, and its readable entries are loaded.
 */
import { Journal } from './journal.ts';
import type { Warn } from './set-aside.ts';

type MapChange<V> = { k: string; v: V } | { k: string };

/** Value of a key; undefined: deleted, or never set. */
interface StoredValue<V> {
  readonly value: V | undefined;
}

/** State of a key with changes that are not on disk yet. */
interface Unsettled<V> {
  onDisk: StoredValue<V>;
  /** Changes in the order of the journal. */
  readonly changes: StoredValue<V>[];
}

/** Fewer records do not make a rewrite of the journal worthwhile. */
const minimumRecords = 1000;
/** This many bytes do, even with fewer records. */
const minimumBytes = 2 ** 24;

export class DurableMap<V> {
  readonly #values: Map<string, V>;
  readonly #journal: Journal<MapChange<V>>;
  #records: number;
  /** Approximate size of the journal when it was last rewritten, bytes. */
  #shortBytes: number;
  #restarting = false;
  readonly #unsettled = new Map<string, Unsettled<V>>();

  private constructor(journal: Journal<MapChange<V>>, values: Map<string, V>, records: number) {
    this.#journal = journal;
    this.#values = values;
    this.#records = records;
    this.#shortBytes = records === 0 ? 0 : (journal.sizeBytes * values.size) / records;
  }

  /** Opens the map. Values that `isValue` refuses are reported and left out; the journal keeps them until it is rewritten. */
  static async open<V>(path: string, warn: Warn, isValue: (value: unknown) => boolean = () => true): Promise<DurableMap<V>> {
    const { journal, records } = await Journal.openSalvaged<MapChange<V>>(path, warn);
    const values = new Map<string, V>();
    for (const change of records) {
      if ('v' in change) values.set(change.k, change.v);
      else values.delete(change.k);
    }
    for (const [key, value] of values) {
      if (isValue(value)) continue;
      values.delete(key);
      warn(`The record ${JSON.stringify(key.slice(0, 100))} of ${path} cannot be used and was left out`);
    }
    return new DurableMap(journal, values, records.length);
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  get size(): number {
    return this.#values.size;
  }

  entries(): IterableIterator<[string, V]> {
    return this.#values.entries();
  }

  /** Sets a value; resolves when it is on disk. The value must not be changed afterwards. */
  set(key: string, value: V): Promise<void> {
    return this.#change({ k: key, v: value }, { value });
  }

  /**
   * Deletes a key; resolves when the deletion is on disk. A second deletion is written too, because the first one may still be
   * refused.
   */
  delete(key: string): Promise<void> {
    if (!this.#values.has(key) && !this.#unsettled.has(key)) return Promise.resolve();
    return this.#change({ k: key }, { value: undefined });
  }

  close(): Promise<void> {
    return this.#journal.close();
  }

  async #change(change: MapChange<V>, version: StoredValue<V>): Promise<void> {
    const key = change.k;
    const unsettled = this.#unsettled.get(key) ?? { onDisk: { value: this.#values.get(key) }, changes: [] };
    this.#unsettled.set(key, unsettled);
    unsettled.changes.push(version);
    this.#show(key, version);
    try {
      await this.#journal.append(change);
      unsettled.onDisk = version;
    } finally {
      unsettled.changes.splice(unsettled.changes.indexOf(version), 1);
      this.#show(key, unsettled.changes.at(-1) ?? unsettled.onDisk);
      if (unsettled.changes.length === 0) this.#unsettled.delete(key);
    }
    this.#records += 1;
    const { sizeBytes } = this.#journal;
    const hasOldRecords = this.#records > minimumRecords && this.#records > 4 * this.#values.size;
    const hasOldBytes = sizeBytes > minimumBytes && sizeBytes > 4 * this.#shortBytes;
    if (hasOldRecords || hasOldBytes) void this.#shorten();
  }

  #show(key: string, { value }: StoredValue<V>): void {
    if (value === undefined) this.#values.delete(key);
    else if (this.#values.get(key) !== value) this.#values.set(key, value);
  }

  async #shorten(): Promise<void> {
    if (this.#restarting || this.#unsettled.size > 0) return;
    this.#restarting = true;
    try {
      const changes = [...this.#values].map(([k, v]) => ({ k, v }));
      await this.#journal.restart(() => changes);
      this.#records = changes.length;
      this.#shortBytes = this.#journal.sizeBytes;
    } catch {
      // The old journal is complete and stays; the next change tries again.
    } finally {
      this.#restarting = false;
    }
  }
}
