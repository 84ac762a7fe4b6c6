/**
 * A map whose changes are on disk when they are acknowledged. Reads see a change at once; a change that cannot be written is taken
 * back and rejected. The journal behind it is rewritten when it holds far more records, or bytes, than the map. A damaged one is
 * reported, a copy of it is kept, and the entries that can be read are there.
 */
import { Journal } from './journal.ts';
import type { Warn } from './set-aside.ts';

type MapChange<V> = { k: string; v: V } | { k: string };

/** Below this many records the journal is not worth rewriting. */
const minimumRecords = 1000;
/** As many bytes make it worth it with fewer records. */
const minimumBytes = 2 ** 24;

export class DurableMap<V> {
  readonly #values: Map<string, V>;
  readonly #journal: Journal<MapChange<V>>;
  #records: number;
  /** Of the journal when it held little else than the map, about. */
  #shortBytes: number;
  #restarting = false;
  /** Changes that are not on disk yet. */
  #pending = 0;

  private constructor(journal: Journal<MapChange<V>>, values: Map<string, V>, records: number) {
    this.#journal = journal;
    this.#values = values;
    this.#records = records;
    this.#shortBytes = records === 0 ? 0 : (journal.sizeBytes * values.size) / records;
  }

  /** Values that `isValue` refuses are reported and left out; the journal keeps them until it is rewritten. */
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

  /** Resolves when on disk. The value must not be changed afterwards. */
  set(key: string, value: V): Promise<void> {
    return this.#change(key, { k: key, v: value }, () => this.#values.set(key, value));
  }

  delete(key: string): Promise<void> {
    if (!this.#values.has(key)) return Promise.resolve();
    return this.#change(key, { k: key }, () => this.#values.delete(key));
  }

  close(): Promise<void> {
    return this.#journal.close();
  }

  async #change(key: string, change: MapChange<V>, apply: () => void): Promise<void> {
    const before = this.#values.get(key);
    apply();
    this.#pending += 1;
    try {
      await this.#journal.append(change);
    } catch (error) {
      this.#revert(key, before);
      throw error;
    } finally {
      this.#pending -= 1;
    }
    this.#records += 1;
    const { sizeBytes } = this.#journal;
    const hasOldRecords = this.#records > minimumRecords && this.#records > 4 * this.#values.size;
    const hasOldBytes = sizeBytes > minimumBytes && sizeBytes > 4 * this.#shortBytes;
    if (hasOldRecords || hasOldBytes) void this.#shorten();
  }

  /** Rejections come newest first, so that the value before the oldest refused change is what stays. */
  #revert(key: string, before: V | undefined): void {
    if (before === undefined) this.#values.delete(key);
    else this.#values.set(key, before);
  }

  async #shorten(): Promise<void> {
    if (this.#restarting || this.#pending > 0) return;
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
