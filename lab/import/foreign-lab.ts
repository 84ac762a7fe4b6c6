/** Builds labs from other programs' files, with a report of each node: taken, changed and missing parts. */
import { posix } from 'node:path';
import { stringify } from 'yaml';
import { LabError } from '../file/lab-error.ts';
import { isTreeMap, type Tree, type TreeMap } from '../file/read-yaml.ts';
import { escapeVariables } from '../file/variables.ts';

export interface NodeReport {
  readonly node: string;
  readonly taken: string[];
  readonly changed: string[];
  readonly missing: string[];
}

interface AddedNode {
  readonly taken?: readonly string[];
  /** Name in the file. */
  readonly given?: string;
}

export interface ImportedLab {
  /** The lab file. */
  readonly text: string;
  readonly report: readonly NodeReport[];
  /** Files that the lab file names, relative to the folder of the imported file. */
  readonly files?: readonly string[];
}

/** Stands for the lab in the report, in place of a node: no node can have this name. */
const wholeLab = '(lab)';

/** Length of the longest text of a drawing, characters. */
const longestText = 10_000;

/** Collects the nodes, links and report of an import. */
export class LabBuilder {
  readonly #name: string;
  readonly #nodes = new Map<string, TreeMap>();
  readonly #reports = new Map<string, NodeReport>();
  readonly #links: Tree[] = [];
  readonly #drawings: Tree[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  has(name: string): boolean {
    return this.#nodes.has(name);
  }

  /** Adds a node; `given`: its name in the file. @throws LabError for a second node of this name */
  add(name: string, fields: TreeMap, { taken = [], given = name }: AddedNode = {}): NodeReport {
    if (this.#nodes.has(name)) throw new LabError(`there are two nodes "${name}"`);
    this.#nodes.set(name, fields);
    const changed = given === name ? [] : [`its name, which is "${given.slice(0, 100)}" in the file`];
    const report = { node: name, taken: [...taken], changed, missing: [] };
    this.#reports.set(name, report);
    return report;
  }

  report(name: string): NodeReport | undefined {
    return this.#reports.get(name);
  }

  /** Links two nodes; a link of a node with itself is reported. */
  link(one: string, other: string, fields: TreeMap = {}): void {
    const [node, same] = [one, other].map((end) => end.split(':')[0]);
    if (node === same) {
      this.lacks(`link ${one} - ${other}: it joins a node with itself`);
      return;
    }
    this.#links.push(Object.keys(fields).length === 0 ? [one, other] : { ends: [one, other], ...fields });
  }

  /** Draws a text; one that is too long is cut, and the report says so. */
  drawText(text: string, x: number, y: number): void {
    this.#drawings.push({ text: text.slice(0, longestText), x, y });
    if (text.length > longestText) this.lacks(`the text "${text.slice(0, 40)}…" after ${longestText} characters`);
  }

  /** Reports a part of the lab, not of one node, that is missing. */
  lacks(text: string): void {
    const whole = this.#reports.get(wholeLab) ?? { node: wholeLab, taken: [], changed: [], missing: [] };
    this.#reports.set(wholeLab, whole);
    whole.missing.push(text);
  }

  build(): ImportedLab {
    const lab = {
      name: this.#name,
      nodes: Object.fromEntries(this.#nodes),
      ...(this.#links.length > 0 && { links: this.#links }),
      ...(this.#drawings.length > 0 && { drawings: this.#drawings }),
    };
    const files = [...this.#nodes.values()].flatMap((node) =>
      Object.values(mapOf(node.files)).map((one) => textIn(mapOf(one), 'file')),
    );
    return {
      text: stringify(escaped(lab), { aliasDuplicateObjects: false, lineWidth: 120, blockQuote: 'literal' }),
      report: [...this.#reports.values()],
      files: [...new Set(files.filter((file) => file !== undefined))],
    };
  }
}

function escaped(value: Tree): Tree {
  if (typeof value === 'string') return escapeVariables(value);
  if (Array.isArray(value)) return value.map(escaped);
  if (!isTreeMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, escaped(one)]));
}

/**
 * Returns the lines of a container's environment, and the names of variables that no line of it can hold. `shown`: how the program of origin
 * writes a value that is no text.
 */
export function environmentOf(
  given: TreeMap,
  shown: (value: null | boolean | number) => string,
): { readonly lines: readonly string[]; readonly missing: readonly string[] } {
  const lines: string[] = [];
  const missing: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const isPlain = value === null || typeof value === 'boolean' || typeof value === 'number';
    const text = isPlain ? shown(value) : value;
    // The environment of a node is a text of trimmed lines, and the server has variables of its own.
    const isLine = typeof text === 'string' && !/[\n\r]|\s$/.test(text) && /^(?!GNS3_|PATCHBAY_)[^=\s]+$/.test(name);
    if (isLine) lines.push(`${name}=${text}`);
    else missing.push(`env ${name.slice(0, 100)}: a variable has a name without spaces and a value of one line`);
  }
  return { lines, missing };
}

/** Converts a text to a valid name of a node. */
export function nodeName(text: string): string {
  const name = text.replaceAll(/[\s{}[\]:]|\p{Cc}/gu, '-').slice(0, 100);
  if (name === '') throw new LabError('a node has no name');
  return name;
}

/** Returns the path of a file beside the imported one; undefined for a path of the host, of another folder, an address, or a variable. */
export function pathBeside(path: string): string | undefined {
  const normal = posix.normalize(path);
  const isElsewhere = /^(?:\/|~|\.\.?(?:\/|$))|:\/\/|\$|__clab|\p{Cc}/u;
  return path.endsWith('/') || isElsewhere.test(normal) || path.includes('://') ? undefined : normal;
}

export function mapOf(value: Tree): TreeMap {
  return isTreeMap(value) ? value : {};
}

export function listOf(value: Tree): Tree[] {
  return Array.isArray(value) ? value : [];
}

export function textIn(map: TreeMap, key: string): string | undefined {
  const value = Object.hasOwn(map, key) ? map[key] : undefined;
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
}

export function numberIn(map: TreeMap, key: string): number | undefined {
  const value = Number(textIn(map, key) ?? Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}
