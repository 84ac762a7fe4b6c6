/** State of all terminals of the page: their font size, and shared typing. */
import { effect, signal } from '@preact/signals';

/** An open terminal, as far as commands of the page use it. */
export interface TerminalHandle {
  /** Sends text to the guest, as if it were typed. */
  send(text: string): void;
  /** The lines that it keeps. */
  text(): string;
  /** Returns the size in characters. */
  size(): { readonly columns: number; readonly rows: number };
}

/** Returns the command line by which a shell behind a serial line, which carries no size, gets that of the terminal. */
export function sizeCommand({ size }: Pick<TerminalHandle, 'size'>): string {
  const { columns, rows } = size();
  return `stty cols ${columns} rows ${rows}\r`;
}

const key = 'patchbay.consoleFontPx';
const sizes = { least: 8, usual: 13, most: 28 } as const;

export class Terminals {
  readonly fontPx = signal(Number(localStorage.getItem(key)) || sizes.usual);
  /** Whether text typed into one terminal is sent to all. */
  readonly isShared = signal(false);
  readonly #open = signal<ReadonlyMap<string, TerminalHandle>>(new Map());

  constructor() {
    effect(() => localStorage.setItem(key, String(this.fontPx.value)));
  }

  /** Returns what removes it. */
  add(tab: string, terminal: TerminalHandle): () => void {
    this.#open.value = new Map(this.#open.peek()).set(tab, terminal);
    return () => {
      if (this.#open.peek().get(tab) === terminal)
        this.#open.value = new Map([...this.#open.peek()].filter(([one]) => one !== tab));
    };
  }

  find(tab: string): TerminalHandle | undefined {
    return this.#open.value.get(tab);
  }

  /** The user has typed into a terminal. */
  typed(tab: string, text: string): void {
    if (!this.isShared.peek()) return;
    for (const [other, terminal] of this.#open.peek()) if (other !== tab) terminal.send(text);
  }

  /** Larger or smaller by pixels. */
  zoom(stepPx: number): void {
    this.fontPx.value = Math.min(sizes.most, Math.max(sizes.least, this.fontPx.peek() + stepPx));
  }
}
