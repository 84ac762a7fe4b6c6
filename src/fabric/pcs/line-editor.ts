/** The line that is being typed at a console: its echo, its editing keys, and the history. Only printable ASCII is taken, as by vpcs. */

/** vpcs keeps that many lines; a longer line is cut. */
const limits = { history: 50, line: 1000, escape: 8 };
const keys = {
  backspace: [8, 127],
  enter: [10, 13],
  home: 1,
  left: 2,
  end: 5,
  right: 6,
  killEnd: 11,
  next: 14,
  previous: 16,
  killLine: 21,
  killWord: 23,
  delete: 4,
};
const escapes: Readonly<Record<string, number>> = {
  ...{ '[A': keys.previous, '[B': keys.next, '[C': keys.right, '[D': keys.left, '[H': keys.home, '[F': keys.end, '[1~': keys.home },
  ...{
    OA: keys.previous,
    OB: keys.next,
    OC: keys.right,
    OD: keys.left,
    OH: keys.home,
    OF: keys.end,
    '[4~': keys.end,
    '[3~': keys.delete,
  },
};

interface LineState {
  readonly line: string;
  readonly cursor: number;
  readonly history: string[];
  /** Bytes of a key that is not complete. */
  readonly escape?: string;
}

export class LineEditor {
  readonly #output: { print(text: string): void };
  line = '';
  cursor = 0;
  history: string[] = [];
  /** Place in the history of the line that is shown; the history's length stands for the new line. */
  #shown = 0;
  #escape: string | undefined;
  #wasReturn = false;

  constructor(output: { print(text: string): void }) {
    this.#output = output;
  }

  /** Takes one byte; the finished line with Enter. */
  feed(byte: number): string | undefined {
    const isSecondOfPair = byte === 10 && this.#wasReturn;
    this.#wasReturn = byte === 13;
    if (isSecondOfPair) return undefined;
    if (this.#escape !== undefined) {
      this.#feedEscape(byte);
      return undefined;
    }
    if (keys.enter.includes(byte)) return this.#enter();
    if (byte === 27) this.#escape = '';
    else if (byte >= 32 && byte < 127) this.#insert(String.fromCharCode(byte));
    else this.#onKey(byte);
    return undefined;
  }

  /** Discards the line. */
  clear(): void {
    this.line = '';
    this.cursor = 0;
    this.#shown = this.history.length;
    this.#escape = undefined;
  }

  state(): LineState {
    const { line, cursor, history } = this;
    return { line, cursor, history, ...(this.#escape === undefined ? {} : { escape: this.#escape }) };
  }

  restore({ line, cursor, history, ...rest }: LineState): void {
    this.line = line;
    this.cursor = Math.min(Math.max(cursor, 0), line.length);
    this.history = history.slice(-limits.history);
    this.#shown = this.history.length;
    this.#escape = rest.escape;
  }

  #enter(): string {
    const { line } = this;
    this.#output.print('\n');
    if (line !== '') this.history = [...this.history, line].slice(-limits.history);
    this.clear();
    return line;
  }

  #feedEscape(byte: number): void {
    const sequence = (this.#escape ?? '') + String.fromCharCode(byte);
    const isMore = /^(\[[\d;]*|O)$/.test(sequence) && sequence.length < limits.escape;
    this.#escape = isMore ? sequence : undefined;
    const key = escapes[sequence];
    if (key !== undefined) this.#onKey(key);
  }

  #insert(letter: string): void {
    if (this.line.length >= limits.line) return;
    const rest = this.line.slice(this.cursor);
    this.line = this.line.slice(0, this.cursor) + letter + rest;
    this.cursor += 1;
    this.#output.print(letter + rest + '\b'.repeat(rest.length));
  }

  #onKey(key: number): void {
    const { line, cursor } = this;
    if (keys.backspace.includes(key)) this.#erase(cursor - 1, cursor);
    else if (key === keys.delete) this.#erase(cursor, cursor + 1);
    else if (key === keys.killEnd) this.#erase(cursor, line.length);
    else if (key === keys.killLine) this.#erase(0, cursor);
    else if (key === keys.killWord) this.#erase(line.slice(0, cursor).trimEnd().lastIndexOf(' ') + 1, cursor);
    else if (key === keys.left) this.#move(cursor - 1);
    else if (key === keys.right) this.#move(cursor + 1);
    else if (key === keys.home) this.#move(0);
    else if (key === keys.end) this.#move(line.length);
    else if (key === keys.previous) this.#show(this.#shown - 1);
    else if (key === keys.next) this.#show(this.#shown + 1);
  }

  #move(to: number): void {
    if (to < 0 || to > this.line.length) return;
    this.#output.print(to < this.cursor ? '\b'.repeat(this.cursor - to) : this.line.slice(this.cursor, to));
    this.cursor = to;
  }

  #erase(from: number, to: number): void {
    if (from < 0 || to > this.line.length || from === to) return;
    const rest = this.line.slice(to);
    const count = to - from;
    this.#move(from);
    this.line = this.line.slice(0, from) + rest;
    this.#output.print(
      rest === '' ? `${' '.repeat(count)}${'\b'.repeat(count)}` : `${rest}${' '.repeat(count)}${'\b'.repeat(rest.length + count)}`,
    );
  }

  /** Replaces the line by one of the history. */
  #show(index: number): void {
    if (index < 0 || index > this.history.length) return;
    this.#shown = index;
    this.#move(this.line.length);
    this.#output.print('\b \b'.repeat(this.line.length));
    this.line = this.history[index] ?? '';
    this.cursor = this.line.length;
    this.#output.print(this.line);
  }
}
