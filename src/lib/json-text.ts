/**
 * JSON as the GNS3 API writes it: keys sorted, indented by four spaces, a space behind each colon (clients search the bytes).
 *
 * The text of a frozen object or array is made once and kept for as long as the value lives; so code that hands out frozen values that
 * are replaced on change pays for the text of what changed, not of everything.
 */
import { Turns } from './turns.ts';

const indentation = '    ';

export class JsonText {
  readonly #texts = new WeakMap<object, string>();
  readonly #bytes = new WeakMap<object, Buffer>();

  /** The whole answer; the bytes of a frozen value are kept as well. */
  encode(value: unknown): Buffer {
    if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return Buffer.from(this.#write(value, ''));
    const known = this.#bytes.get(value);
    if (known) return known;
    const bytes = Buffer.from(this.#write(value, ''));
    this.#bytes.set(value, bytes);
    return bytes;
  }

  /** The same bytes, made in short turns: a list of 10,000 nodes takes a second the first time. */
  async encodeInTurns(value: unknown): Promise<Buffer> {
    const isKept = typeof value === 'object' && value !== null && Object.isFrozen(value);
    const known = isKept ? this.#bytes.get(value) : undefined;
    if (known) return known;
    const turns = new Turns();
    const chunks: Buffer[] = [];
    let text = '';
    for (const piece of this.#pieces(value, '')) {
      text += piece;
      if (!turns.isOver) continue;
      chunks.push(Buffer.from(text));
      text = '';
      await turns.next();
    }
    const bytes = Buffer.concat([...chunks, Buffer.from(text)]);
    if (isKept) this.#bytes.set(value, bytes);
    return bytes;
  }

  /** The text of a value, cut between the items of its arrays and of objects that are not kept. */
  *#pieces(value: unknown, indent: string): Generator<string> {
    const inner = indent + indentation;
    if (Array.isArray(value) && value.length > 0) {
      for (const [index, item] of value.entries()) {
        yield `${index === 0 ? '[' : ','}\n${inner}`;
        yield* this.#pieces(item, inner);
      }
      yield `\n${indent}]`;
    } else if (typeof value !== 'object' || value === null || Object.isFrozen(value) || isLeaf(value)) {
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
    // Strings in JSON hold no raw line feed, so every one of them is layout.
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
/** Whether `JSON.stringify` writes its keys in order: it does so in a fifth of the time. */
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
/** What is not a plain object with keys. */
const isLeaf = (value: object) => Array.isArray(value) || value instanceof Date;
