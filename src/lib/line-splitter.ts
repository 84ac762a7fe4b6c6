/** Splits a byte stream into lines of UTF-8 text. */

/** Longest line; tens of thousands of links fit into it. */
const maxLineBytes = 64 * 1024 * 1024;
const newline = 10;

export class LineSplitter {
  readonly #onLine: (line: string) => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /**
   * Adds bytes and emits the complete lines, except empty ones. Returns false when a line is too long: the rest cannot be parsed.
   */
  add(chunk: Buffer): boolean {
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      const line = Buffer.concat([...this.#parts, chunk.subarray(from, at)]).toString();
      this.#parts = [];
      this.#bytes = 0;
      from = at + 1;
      if (line.trim() !== '') this.#onLine(line);
    }
    if (from < chunk.length) {
      this.#parts.push(chunk.subarray(from));
      this.#bytes += chunk.length - from;
    }
    return this.#bytes <= maxLineBytes;
  }
}
