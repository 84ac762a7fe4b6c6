/**
 * Parses YAML or JSON into plain values and records the place of each. The conversion is bounded: aliases multiply values, so
 * values are counted while they are made, and the depth is limited.
 */
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { LabError, type Place } from './lab-error.ts';

/** Longest file, characters. */
export const maxFileLength = 1_048_576;
const mostValues = 200_000;
const mostLevels = 50;
const mostAliases = 1000;

/** A value of a file: text, number, boolean, null, array or object with any own keys. */
export type Tree = unknown;
export type TreeMap = Record<string, Tree>;

interface ReadFile {
  readonly value: Tree;
  readonly places: Places;
}

/** Places of values, by the object or array that holds them, and the words of numbers that are written otherwise than they are shown. */
export class Places {
  readonly #places = new WeakMap<object, Map<string, Place>>();
  readonly #words = new WeakMap<object, Map<string, string>>();

  set(container: object, key: string | number, place: Place): void {
    const known = this.#places.get(container) ?? new Map<string, Place>();
    known.set(String(key), place);
    this.#places.set(container, known);
  }

  /** Returns the place of a value in a container; the place of the first value when the key is absent. */
  of(container: object, key?: string | number): Place | undefined {
    const known = this.#places.get(container);
    return (key === undefined ? undefined : known?.get(String(key))) ?? known?.values().next().value;
  }

  setWord(container: object, key: string, word: string): void {
    this.#words.set(container, (this.#words.get(container) ?? new Map<string, string>()).set(key, word));
  }

  /** Returns the word of the file for a number, `true` or `false`: `1.10` where the value is 1.1. */
  wordOf(container: object, key: string): string | undefined {
    return this.#words.get(container)?.get(key);
  }

  /** Returns the place of the value at a path below `root`, or of the last existing part of the path. */
  at(root: Tree, path: readonly string[]): Place | undefined {
    let place: Place | undefined;
    let value = root;
    for (const key of path) {
      if (typeof value !== 'object' || value === null) break;
      place = this.of(value, key) ?? place;
      if (!Object.hasOwn(value, key)) break;
      value = (value as TreeMap)[key];
    }
    return place;
  }

  /** Gives a copy of a container the same places. */
  copy(from: object, to: object): void {
    const known = this.#places.get(from);
    if (known) this.#places.set(to, known);
  }
}

export function isTreeMap(value: Tree): value is TreeMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a file. @throws LabError at the first fault */
export function readYaml(text: string, file: string, places = new Places()): ReadFile {
  return read(text, file, { places, isAsWritten: false });
}

/**
 * Parses a file of another program, which may read any word as a text: a number, `true` or `false` that would be shown otherwise than it
 * is written, such as `1.10`, `007`, `0x1F`, `.inf` and `True`, is a text. @throws LabError at the first fault
 */
export function readForeignYaml(text: string, file: string): ReadFile {
  return read(text, file, { places: new Places(), isAsWritten: true });
}

interface YamlReading {
  readonly places: Places;
  readonly isAsWritten: boolean;
}

function read(text: string, file: string, { places, isAsWritten }: YamlReading): ReadFile {
  if (text.length > maxFileLength)
    throw new LabError(`${file} has more than ${maxFileLength} characters. Divide it by \`include\``);
  const lines = new LineCounter();
  const document = parse(text, file, lines);
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const [error] = document.errors;
  if (error?.message.includes('call stack')) throw tooDeep(file);
  if (error?.code === 'MULTIPLE_DOCS')
    throw new LabError(
      'another YAML document begins here, and a file holds one. Remove the line `---`, or move it to another file',
      place(error.pos[0]),
    );
  if (error) {
    const { line } = place(error.pos[0]);
    const isRange = /\w\[\d/.test(text.split('\n', line).at(-1) ?? '');
    const advice = isRange ? "Quote ranges in lists: ['PC[1-3]', SW1]" : 'Correct the YAML';
    throw new LabError(`${oneLine(error.message)}. ${advice}`, place(error.pos[0]));
  }
  const converter = new Converter(document, { places, isAsWritten }, place);
  return { value: converter.convert(document.contents as Node | null, 0), places };
}

function parse(text: string, file: string, lines: LineCounter): Document {
  try {
    // The parser compares each key of a map with all keys before it: 60,000 keys take a minute. The converter finds duplicates
    // itself.
    // A `%YAML 1.1` directive, which many programs write, would make NaN of `e1` and 750 of `12:30`: the words are read as in 1.2.
    return parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      strict: true,
      uniqueKeys: false,
      version: '1.2',
      schema: 'core',
    });
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(file);
    throw new LabError(`${file} cannot be read: ${oneLine((error as Error).message)}`);
  }
}

function tooDeep(file: string): LabError {
  return new LabError(`${file} is nested too deep. Use at most ${mostLevels} levels`);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().replace(/\.$/, '').slice(0, 300);
}

/** Returns the name that a key is: its text, so that `1e1` and `10` are two names. */
function nameOf(key: Node): string | undefined {
  if (!isScalar(key)) return undefined;
  return typeof key.value === 'string' ? key.value : key.source || String(key.value);
}

class Converter {
  readonly #document: Document;
  readonly #places: Places;
  readonly #isAsWritten: boolean;
  readonly #place: (offset: number) => Place;
  #values = 0;
  #aliases = 0;

  constructor(document: Document, { places, isAsWritten }: YamlReading, place: (offset: number) => Place) {
    this.#document = document;
    this.#places = places;
    this.#isAsWritten = isAsWritten;
    this.#place = place;
  }

  convert(node: Node | null, depth: number): Tree {
    if (node === null) return null;
    this.#values += 1;
    if (this.#values > mostValues) throw this.#error(`the file stands for more than ${mostValues} values. Use fewer aliases`, node);
    if (depth > mostLevels) throw this.#error(`it is nested deeper than ${mostLevels} levels`, node);
    if (isAlias(node)) return this.#alias(node, depth);
    if (isScalar(node)) {
      const { value, source } = node;
      const isWord = (typeof value === 'number' || typeof value === 'boolean') && source !== undefined && source !== String(value);
      return this.#scalar(this.#isAsWritten && isWord ? source : value, node);
    }
    if (isSeq(node)) return this.#list(node.items as (Node | null)[], depth);
    if (isMap(node)) return this.#map(node.items as { key: Node; value: Node | null }[], depth);
    throw this.#error('this form of YAML is not used in lab files', node);
  }

  #alias(node: Node & { resolve(document: Document): unknown }, depth: number): Tree {
    this.#aliases += 1;
    if (this.#aliases > mostAliases) throw this.#error(`more than ${mostAliases} aliases are used`, node);
    const target = node.resolve(this.#document) as Node | undefined;
    if (!target) throw this.#error('the alias has no anchor before it', node);
    return this.convert(target, depth + 1);
  }

  #scalar(value: unknown, node: Node): Tree {
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw this.#error('lab files hold text, numbers, true, false, null, lists and maps only', node);
  }

  #list(items: readonly (Node | null)[], depth: number): Tree[] {
    const list: Tree[] = [];
    for (const item of items) {
      this.#places.set(list, list.length, this.#placeOf(item, item));
      list.push(this.convert(item, depth + 1));
    }
    return list;
  }

  #map(items: readonly { key: Node; value: Node | null }[], depth: number): TreeMap {
    // `fromEntries` creates own keys regardless of their names.
    const entries = new Map<string, Tree>();
    const places = new Map<string, Place>();
    const own = new Set<string>();
    for (const { key, value } of items) {
      const name = nameOf(key);
      if (name === undefined || name === '__proto__') throw this.#error('this cannot be the name of a key', key);
      if (own.has(name))
        throw this.#error(`map keys must be unique: "${name.slice(0, 70)}" stands twice in this map. Remove one`, key);
      own.add(name);
      if (name === '<<') this.#merge(this.convert(value, depth + 1), key, entries, places);
      else {
        entries.set(name, this.convert(value, depth + 1));
        places.set(name, this.#placeOf(key, value));
      }
    }
    const map = Object.fromEntries(entries);
    for (const [name, place] of places) this.#places.set(map, name, place);
    for (const { key, value } of items) {
      const word = isScalar(value) && typeof value.value !== 'string' ? value.source : undefined;
      if (word && isScalar(value) && word !== String(value.value)) this.#places.setWord(map, nameOf(key) ?? '', word);
    }
    return map;
  }

  /** Merges `<<`, whose keys apply where the map itself has none. */
  #merge(value: Tree, key: Node, entries: Map<string, Tree>, places: Map<string, Place>): void {
    for (const source of Array.isArray(value) ? value : [value]) {
      if (!isTreeMap(source)) throw this.#error('`<<` takes a map or a list of maps', key);
      for (const [name, one] of Object.entries(source)) {
        if (entries.has(name)) continue;
        entries.set(name, one);
        places.set(name, this.#places.of(source, name) ?? this.#place(key.range?.[0] ?? 0));
      }
    }
  }

  /** Returns the place of an item that begins at one node and ends with another. */
  #placeOf(first: Node | null, last: Node | null): Place {
    const start = first?.range?.[0] ?? 0;
    const place = this.#place(start);
    // The end of a block is the beginning of the next line.
    const end = Math.max(start, (last?.range?.[1] ?? 0) - 1);
    return { ...place, end: this.#place(end).line };
  }

  #error(message: string, node: Node): LabError {
    return new LabError(message, this.#place(node.range?.[0] ?? 0));
  }
}
