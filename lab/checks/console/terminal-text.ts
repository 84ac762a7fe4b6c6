/**
 * Renders a console's output to text: carriage returns and backspaces overwrite, escape sequences that erase a line do so, other
 * sequences and control characters are dropped. Bounded: the oldest lines are dropped.
 */
const mostCharacters = 2_000_000;
const esc = String.fromCharCode(27);
const bell = String.fromCharCode(7);
/** A complete escape sequence: CSI, OSC or two characters. ECMA-48, 5.4; xterm for OSC. */
const sequence = new RegExp(
  `^${esc}(?:\\[([0-9;?]*)[ -/]*([@-~])|\\][^${bell}${esc}]*(?:${bell}|${esc}\\\\)|[()][0-9A-Za-z]|[^[\\]()])`,
);
const longestSequence = 4096;

export class TerminalText {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** Complete lines, each with its line end. */
  #lines = '';
  #forgotten = 0;
  #line: string[] = [];
  #column = 0;
  /** An incomplete escape sequence. */
  #pending = '';

  append(bytes: Uint8Array): void {
    const text = this.#pending + this.#decoder.decode(bytes, { stream: true });
    this.#pending = '';
    for (let at = 0; at < text.length; ) {
      const character = text[at] as string;
      if (character !== esc) {
        this.#put(character);
        at += 1;
        continue;
      }
      const rest = text.slice(at, at + longestSequence);
      const found = sequence.exec(rest);
      if (!found && rest.length < longestSequence) {
        this.#pending = rest;
        return;
      }
      if (found?.[2] === 'K' && (found[1] === '' || found[1] === '0'))
        this.#line.length = Math.min(this.#line.length, this.#column);
      else if (found?.[2] === 'K' && found[1] === '2') this.#line = [];
      else if (found?.[2] === 'J') this.#line.length = Math.min(this.#line.length, this.#column);
      else if (found?.[2] === 'D') this.#column = Math.max(0, this.#column - Number(found[1] || 1));
      else if (found?.[2] === 'C') this.#column += Math.min(Number(found[1] || 1), 1000);
      at += found?.[0].length ?? 1;
    }
  }

  /** The last, incomplete line. */
  get tail(): string {
    return this.#line.map((character) => character ?? ' ').join('');
  }

  /** The last line that is not blank: a machine that stopped may have printed the reason without a line end. */
  get lastLine(): string {
    return this.tail.trim() || (this.#lines.trimEnd().split('\n').at(-1) ?? '').trim();
  }

  /** A position after the last complete line, for `since`. */
  get mark(): number {
    return this.#forgotten + this.#lines.length;
  }

  /** Returns the text since a mark, with the last line. */
  since(mark: number): string {
    return this.#lines.slice(Math.max(0, mark - this.#forgotten)) + this.tail;
  }

  #put(character: string): void {
    if (character === '\n') {
      this.#lines += `${this.tail.trimEnd()}\n`;
      this.#line = [];
      this.#column = 0;
      if (this.#lines.length > mostCharacters) {
        const excess = this.#lines.length - mostCharacters / 2;
        this.#lines = this.#lines.slice(excess);
        this.#forgotten += excess;
      }
    } else if (character === '\r') this.#column = 0;
    else if (character === '\b') this.#column = Math.max(0, this.#column - 1);
    else if (character >= ' ' || character === '\t') {
      while (this.#line.length < this.#column) this.#line.push(' ');
      this.#line[this.#column] = character;
      this.#column += 1;
    }
  }
}
