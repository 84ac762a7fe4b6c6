/**
 * Names of the nodes of one project: unique, reserved before anything else happens so that two requests at once never get the same.
 * Rules: `{0}` and `{id}` in a name stand for the smallest number that makes it free; a name that is taken gets such a number at its
 * end, in place of the number it ended with.
 */
import { fault } from '../../api/faults.ts';

const maxNumber = 999_999;
const placeholder = /\{(?:0|id)(?::[^{}]*)?\}/;

export class NodeNames {
  readonly #taken = new Set<string>();
  /** Numbers up to which a format's names are known to be taken. */
  readonly #counted = new Map<string, number>();

  /**
   * Reserves `wanted`, or the name that is free instead. `own`, the present name of a node that is renamed, counts as free but stays
   * reserved: the caller releases one of the two names afterwards.
   */
  allocate(wanted: string, own?: string): string {
    const name = wanted.replaceAll(' ', '');
    if (name === '') throw fault('node_name_format', { format: wanted, reason: 'it is empty without its spaces' });
    if (own === undefined) return this.#allocate(name);
    this.release(own);
    try {
      return this.#allocate(name);
    } finally {
      this.#taken.add(own);
    }
  }

  /** Reserves a name as it is, for nodes that are read from a file. */
  reserve(name: string): void {
    this.#taken.add(name);
  }

  release(name: string): void {
    if (this.#taken.delete(name)) this.#counted.clear();
  }

  has(name: string): boolean {
    return this.#taken.has(name);
  }

  #allocate(name: string): string {
    if (placeholder.test(name)) return this.#number(name, parseFormat(name));
    if (!this.#taken.has(name)) {
      this.#taken.add(name);
      return name;
    }
    const base = name.replace(/\d+$/, '');
    return this.#number(`${base}{0}`, (number) => `${base}${number}`);
  }

  #number(format: string, write: (number: number) => string): string {
    for (let number = (this.#counted.get(format) ?? 0) + 1; number <= maxNumber; number++) {
      const name = write(number);
      if (this.#taken.has(name)) continue;
      this.#taken.add(name);
      this.#counted.set(format, number);
      return name;
    }
    throw fault('node_name_exhausted', { name: format });
  }
}

/** The part of Python's format language that names use: `{0}`, `{id}`, widths as in `{0:02d}`, doubled braces, and `{name}`. */
function parseFormat(format: string): (number: number) => string {
  const parts: (string | ((number: number) => string))[] = [];
  const token = /\{\{|\}\}|\{([^{}:]*)(?::([^{}]*))?\}|[{}]|[^{}]+/g;
  for (const [text, field, spec] of format.matchAll(token)) {
    if (text === '{{' || text === '}}') parts.push(text.charAt(0));
    else if (field !== undefined) parts.push(parseField(format, field, spec ?? ''));
    else if (text === '{' || text === '}') throw fault('node_name_format', { format, reason: `a single "${text}"` });
    else parts.push(text);
  }
  return (number) => parts.map((part) => (typeof part === 'string' ? part : part(number))).join('');
}

function parseField(format: string, field: string, spec: string): string | ((number: number) => string) {
  if (field === 'name' && spec === '') return 'Node';
  if (field !== '0' && field !== 'id') throw fault('node_name_format', { format, reason: `there is no placeholder {${field}}` });
  const width = /^(0?)(\d{0,2})d?$/.exec(spec);
  if (!width) throw fault('node_name_format', { format, reason: `"${spec}" is not a width` });
  const [, zero, length] = width;
  return (number) =>
    String(number)
      .padStart(Number(length), zero ? '0' : ' ')
      .replaceAll(' ', '');
}
