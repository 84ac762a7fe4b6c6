/** Short messages at the edge of the page. */
import { signal } from '@preact/signals';

export interface Toast {
  readonly id: number;
  readonly level: 'info' | 'error' | 'done';
  readonly text: string;
}

/** Errors stay until they are closed: nobody should have to read fast. */
const shownMs = 4_000;

export class Toasts {
  readonly list = signal<readonly Toast[]>([]);
  #last = 0;

  show(level: Toast['level'], text: string): void {
    const same = this.list.peek().find((toast) => toast.text === text);
    if (same) return;
    this.#last += 1;
    const toast = { id: this.#last, level, text };
    this.list.value = [...this.list.peek().slice(-4), toast];
    if (level !== 'error') setTimeout(() => this.close(toast.id), shownMs);
  }

  close(id: number): void {
    this.list.value = this.list.peek().filter((toast) => toast.id !== id);
  }

  /** Does something; what goes wrong is said. Resolves to its value, or undefined. */
  async attempt<T>(task: () => Promise<T> | T): Promise<T | undefined> {
    try {
      return await task();
    } catch (error) {
      if ((error as Error).name !== 'AbortError') this.show('error', (error as Error).message);
      return undefined;
    }
  }
}
