/**
 * Reads another program's file key by key. Each importer lists the keys that it knows with what becomes of them, and reads them through a
 * map that keeps count: a key that was not read when the import ends is reported, whatever the reason.
 */

import { isDeepStrictEqual } from 'node:util';

/** `needless`: Patchbay does without it, and nothing of the lab is lost. */
type Fate = 'taken' | 'changed' | 'missing' | 'needless';

interface KeyFate {
  readonly fate: Fate;
  /** A sentence about it, for reports and docs/lab-file.md. */
  readonly how: string;
}
export type KeyTable<K extends string = string> = Readonly<Record<K, KeyFate>>;

const of = (fate: Fate) => (how: string) => ({ fate, how });
export const taken = of('taken');
export const changed = of('changed');
export const missing = of('missing');
export const needless = of('needless');

/** A map of the file. A key that its table does not have cannot be read: the compiler refuses it. */
export class ForeignMap<K extends string = string> {
  readonly #map: Readonly<Record<string, unknown>>;
  readonly #keys: KeyTable<K>;
  readonly #read = new Set<string>();
  readonly #children: { readonly path: string; readonly child: ForeignMap }[] = [];

  /** A value that is no map counts as an empty one. */
  constructor(value: unknown, keys: KeyTable<K>) {
    this.#map = isMap(value) ? value : {};
    this.#keys = keys;
  }

  has(key: K): boolean {
    return Object.hasOwn(this.#map, key) && this.#map[key] !== null;
  }

  /** Returns the value as it is. */
  raw(key: K): unknown {
    this.#read.add(key);
    return this.peek(key);
  }

  /** Returns the value, which counts as unread. */
  peek(key: K): unknown {
    return Object.hasOwn(this.#map, key) ? this.#map[key] : undefined;
  }

  /** Returns a text, or a number as a text; another value counts as unread. */
  text(key: K): string | undefined {
    const value = this.peek(key);
    if (typeof value !== 'string' && typeof value !== 'number') return undefined;
    this.#read.add(key);
    return String(value);
  }

  /** Returns a text as programs read one that want a text: also a number, `true` and `false`. Another value counts as unread. */
  word(key: K): string | undefined {
    const value = this.peek(key);
    if (typeof value !== 'boolean') return this.text(key);
    this.#read.add(key);
    return String(value);
  }

  /** Returns true or false, also as YAML 1.1 writes them (`False`, `off`); another value counts as unread. */
  flag(key: K): boolean | undefined {
    const value = String(this.peek(key)).toLowerCase();
    const isTrue = /^(?:true|yes|on)$/.test(value);
    if (!isTrue && !/^(?:false|no|off)$/.test(value)) return undefined;
    this.#read.add(key);
    return isTrue;
  }

  /** Returns a number, also one in a text; another value counts as unread. */
  number(key: K): number | undefined {
    const value = this.peek(key);
    const number =
      typeof value === 'number' ? value : typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
    if (!Number.isFinite(number)) return undefined;
    this.#read.add(key);
    return number;
  }

  /** Returns a list; another value counts as unread. */
  list(key: K): readonly unknown[] {
    const value = this.peek(key);
    if (!Array.isArray(value)) return [];
    this.#read.add(key);
    return value;
  }

  /** Returns the map at a key; its unread keys are this map's. */
  map<C extends string>(key: K, keys: KeyTable<C>): ForeignMap<C> {
    const value = this.peek(key);
    if (isMap(value)) this.#read.add(key);
    return this.#child(key, value, keys);
  }

  /** Returns the maps of a list; their unread keys are this map's. */
  maps<C extends string>(key: K, keys: KeyTable<C>): ForeignMap<C>[] {
    return this.list(key).map((value, index) => this.#child(`${key}[${index}]`, value, keys));
  }

  /** Whether the key that a line of `unread` begins with is 0. */
  isZero(line: string): boolean {
    const value = this.peek(line.split(':', 1)[0] as K);
    return value === 0 || (typeof value === 'string' && /^0+(?:\.0*)?$/.test(value));
  }

  /** Counts as read the keys whose values another map of the file has as well, where they are taken or reported. */
  takeSame(other: unknown): void {
    for (const [key, value] of Object.entries(this.#map))
      if (isMap(other) && Object.hasOwn(other, key) && isDeepStrictEqual(value, other[key])) this.#read.add(key);
  }

  /** Counts all keys as read: the whole map is reported. */
  takeAll(): void {
    for (const key of Object.keys(this.#map)) this.#read.add(key);
  }

  /** Lists the keys that were not read, with what the table says of them. */
  unread(): string[] {
    const own = Object.entries(this.#map).flatMap(([key, value]) => {
      if (this.#read.has(key) || isNothing(value)) return [];
      const { fate, how } = Object.hasOwn(this.#keys, key) ? this.#keys[key as K] : missing('');
      if (fate === 'needless') return [];
      return [fate === 'missing' && how !== '' ? `${shown(key)}: ${how}` : shown(key)];
    });
    return [...own, ...this.#children.flatMap(({ path, child }) => child.unread().map((key) => `${path}.${key}`))];
  }

  #child<C extends string>(path: string, value: unknown, keys: KeyTable<C>): ForeignMap<C> {
    const child = new ForeignMap(value, keys);
    this.#children.push({ path: shown(path), child: child as unknown as ForeignMap });
    return child;
  }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

function shown(key: string): string {
  return key.replaceAll(/\p{Cc}/gu, '?').slice(0, 100);
}
