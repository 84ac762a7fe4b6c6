/**
 * Takes the elements of one list out of a JSON document while it arrives. A cluster lists tens of thousands of jobs: parsed as
 * one text they would hold the event loop for a quarter of a second.
 */
import { StringDecoder } from 'node:string_decoder';

/** Length limit of an element in characters. Longer text is no job and no node. */
const longestElement = 1 << 20;

export class ElementSplitter {
  readonly #marker: RegExp;
  readonly #onElement: (text: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #text = '';
  #state: 'before' | 'inside' | 'after' = 'before';
  /** Position in `#text` where scanning continues. `#depth` counts open braces of the element that is being read. */
  #at = 0;
  #depth = 0;
  #inString = false;

  /** `key` names a list at the top level of the document; its elements are objects. */
  constructor(key: string, onElement: (text: string) => void) {
    this.#marker = new RegExp(`"${key}"\\s*:\\s*\\[`);
    this.#onElement = onElement;
  }

  /** Whether the list is complete. If not, an element missing from it may exist. */
  get isComplete(): boolean {
    return this.#state === 'after';
  }

  /** False when an element grows beyond all bounds. */
  add(chunk: Uint8Array): boolean {
    if (this.#state === 'after') return true;
    this.#text += this.#decoder.write(chunk);
    if (this.#state === 'before') {
      const found = this.#marker.exec(this.#text);
      if (found) {
        this.#state = 'inside';
        this.#text = this.#text.slice(found.index + found[0].length);
      }
    }
    if (this.#state === 'inside') this.#split();
    return this.#text.length <= longestElement;
  }

  #split(): void {
    const special = /["\\{}\]]/g;
    let from = 0;
    special.lastIndex = this.#at;
    for (let found = special.exec(this.#text); found; found = special.exec(this.#text)) {
      const [sign] = found;
      if (this.#inString) {
        if (sign === '\\') special.lastIndex += 1;
        else if (sign === '"') this.#inString = false;
      } else if (sign === '"') this.#inString = true;
      else if (sign === '{') {
        if (this.#depth === 0) from = found.index;
        this.#depth += 1;
      } else if (sign === '}') {
        this.#depth -= 1;
        if (this.#depth > 0) continue;
        this.#onElement(this.#text.slice(from, special.lastIndex));
        from = special.lastIndex;
      } else if (sign === ']' && this.#depth === 0) {
        this.#state = 'after';
        this.#text = '';
        return;
      }
      this.#at = special.lastIndex;
    }
    this.#at = Math.max(this.#text.length, this.#at) - from;
    this.#text = this.#text.slice(from);
  }
}
