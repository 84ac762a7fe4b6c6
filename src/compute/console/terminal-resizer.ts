/**
 * The size of a terminal that several clients share: the smallest that fits into the windows of all of them, as tmux does. Clients
 * that say no size do not count.
 */
import type { TerminalSize } from '../../emulators/driver.ts';

/** Larger windows are none. */
const most = 1000;

export class TerminalResizer {
  readonly #resize: (size: TerminalSize) => Promise<void> | undefined;
  #wanted: TerminalSize | undefined;
  #isBusy = false;

  /** `resize` is called once at a time; what it fails with is ignored: the terminal has ended, and gets its size when it is there again. */
  constructor(resize: (size: TerminalSize) => Promise<void> | undefined) {
    this.#resize = resize;
  }

  fit(clients: Iterable<{ readonly size: TerminalSize | undefined }>): void {
    const sizes = [...clients].flatMap(({ size }) => (size ? [size] : []));
    if (sizes.length === 0) return;
    const columns = Math.min(most, ...sizes.map((size) => size.columns));
    const rows = Math.min(most, ...sizes.map((size) => size.rows));
    if (columns === this.#wanted?.columns && rows === this.#wanted.rows) return;
    this.#wanted = { columns, rows };
    void this.#apply();
  }

  /** Gives a new terminal the size of the one before. */
  repeat(): void {
    if (this.#wanted) void this.#apply();
  }

  /** A window that is being drawn larger changes many times: only the last size counts. */
  async #apply(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    let applied: TerminalSize | undefined;
    while (this.#wanted && this.#wanted !== applied) {
      applied = this.#wanted;
      await this.#resize(applied)?.catch(() => undefined);
    }
    this.#isBusy = false;
  }
}
