/**
 * Serializes JSON in the format of the GNS3 API: sorted keys, four spaces of indentation, a space after each colon (clients search
 * the bytes).
 *
 * The text of a frozen object or array is cached for as long as the value lives. Callers that return frozen values and replace them
 * on change pay only for the text of the changed ones.
 */
import { Turns } from './turns.ts';

const indentation = '    ';
/** Texts of frozen values from this length on are indented in a turn of their own. */
const longText = 1024 * 1024;

export class JsonText {
  readonly #texts = new WeakMap<object, string>();
  readonly #bytes = new WeakMap<object, Buffer>();
  readonly #making = new WeakMap<object, Promise<Buffer>>();

  /** Serializes an answer; the bytes of a frozen value are cached as well. */
  encode(value: unknown): Buffer {
    if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return Buffer.from(this.#write(value, ''));
    const known = this.#bytes.get(value);
    if (known) return known;
    const bytes = Buffer.from(this.#write(value, ''));
    this.#bytes.set(value, bytes);
    return bytes;
  }

  /** Serializes in short turns: a list of 10,000 nodes takes a second the first time. A frozen value is serialized once. */
  async encodeInTurns(value: unknown): Promise<Buffer> {
    if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return this.#encodeInTurns(value);
    const known = this.#bytes.get(value);
    if (known) return known;
    const making = this.#making.get(value) ?? this.#encodeInTurns(value);
    this.#making.set(value, making);
    try {
      const bytes = await making;
      this.#bytes.set(value, bytes);
      return bytes;
    } finally {
      this.#making.delete(value);
    }
  }

  async #encodeInTurns(value: unknown): Promise<Buffer> {
    const turns = new Turns();
    const chunks: Buffer[] = [];
    let text = '';
    for (const piece of this.#pieces(value, '')) {
      text += piece;
      if (!turns.isOver) continue;
      // The text of a large picture takes a turn to be written, another one to be indented, and one for its bytes.
      await turns.next();
      chunks.push(Buffer.from(text));
      text = '';
    }
    chunks.push(Buffer.from(text));
    const bytes = Buffer.allocUnsafe(chunks.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const chunk of chunks) {
      if (turns.isOver) await turns.next();
      at += chunk.copy(bytes, at);
    }
    return bytes;
  }

  /** Yields the text of a value, split between the items of arrays and of objects that are not cached. */
  *#pieces(value: unknown, indent: string): Generator<string> {
    const inner = indent + indentation;
    if (Array.isArray(value) && value.length > 0) {
      for (const [index, item] of value.entries()) {
        yield `${index === 0 ? '[' : ','}\n${inner}`;
        yield* this.#pieces(item, inner);
      }
      yield `\n${indent}]`;
    } else if (typeof value !== 'object' || value === null || isLeaf(value)) {
      yield this.#write(value, indent);
    } else if (Object.isFrozen(value)) {
      if (this.#write(value, '').length > longText) yield '';
      yield this.#write(value, indent);
    } else {
      let start = '{';
      for (const [key, item] of Object.entries(value).sort(byKey)) {
        if (item === undefined) continue;
        yield `${start}\n${inner}${JSON.stringify(key)}: `;
        yield* this.#pieces(item, inner);
        start = ',';
      }
      yield start === '{' ? '{}' : `\n${indent}}`;
    }
  }

  #write(value: unknown, indent: string): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
    if (!Object.isFrozen(value)) return this.#compose(value, indent);
    let text = this.#texts.get(value);
    if (text === undefined) {
      text = !Array.isArray(value) && isSorted(value) ? JSON.stringify(value, null, indentation) : this.#compose(value, '');
      this.#texts.set(value, text);
    }
    // Strings in JSON have no raw line feeds, so every line feed is layout.
    return indent === '' ? text : text.replaceAll('\n', `\n${indent}`);
  }

  #compose(value: object, indent: string): string {
    const inner = indent + indentation;
    if (Array.isArray(value)) {
      if (value.length === 0) return '[]';
      return `[\n${inner}${value.map((item) => this.#write(item, inner)).join(`,\n${inner}`)}\n${indent}]`;
    }
    if (value instanceof Date) return JSON.stringify(value);
    const lines: string[] = [];
    for (const key of Object.keys(value).sort()) {
      const item = (value as Record<string, unknown>)[key];
      if (item !== undefined) lines.push(`${JSON.stringify(key)}: ${this.#write(item, inner)}`);
    }
    return lines.length === 0 ? '{}' : `{\n${inner}${lines.join(`,\n${inner}`)}\n${indent}}`;
  }
}

const byKey = ([one]: [string, unknown], [other]: [string, unknown]) => (one < other ? -1 : 1);
/** Whether `JSON.stringify` already writes the keys in order; it takes a fifth of the time. */
function isSorted(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isSorted);
  if ('toJSON' in value) return false;
  let before = '';
  for (const key of Object.keys(value)) {
    if (key < before || !isSorted((value as Record<string, unknown>)[key])) return false;
    before = key;
  }
  return true;
}
/** Whether a value is not a plain object with keys. */
const isLeaf = (value: object) => Array.isArray(value) || value instanceof Date;
