/** Short messages at the edge of the page. */
import { signal } from '@preact/signals';

export interface Toast {
  readonly id: number;
  readonly level: 'info' | 'error' | 'done';
  readonly text: string;
  /** `performance.now()`. */
  readonly since: number;
}

/** Errors stay long enough to be read; all toasts stay while the pointer or the focus is on them. */
const shownMs = { info: 4_000, done: 4_000, error: 20_000 } as const;
/** Age from which on errors are dismissed on navigation. */
const ofEarlierViewMs = 2_000;

export class Toasts {
  readonly list = signal<readonly Toast[]>([]);
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();
  #last = 0;

  show(level: Toast['level'], text: string): void {
    const same = this.list.peek().find((toast) => toast.text === text);
    if (same) return;
    this.#last += 1;
    const toast = { id: this.#last, level, text, since: performance.now() };
    this.list.value = [...this.list.peek().slice(-4), toast];
    this.resume(toast);
  }

  /** Keeps a toast open until `resume`: the user is reading it. */
  hold(id: number): void {
    clearTimeout(this.#timers.get(id));
  }

  resume({ id, level }: Pick<Toast, 'id' | 'level'>): void {
    this.hold(id);
    this.#timers.set(
      id,
      setTimeout(() => this.close(id), shownMs[level]),
    );
  }

  /** The user navigated to another view. */
  leaveView(): void {
    const now = performance.now();
    for (const { id, level, since } of this.list.peek()) if (level === 'error' && now - since > ofEarlierViewMs) this.close(id);
  }

  close(id: number): void {
    this.hold(id);
    this.#timers.delete(id);
    this.list.value = this.list.peek().filter((toast) => toast.id !== id);
  }

  /** Runs an operation and shows its error. Resolves to its value, or undefined. */
  async attempt<T>(task: () => Promise<T> | T): Promise<T | undefined> {
    try {
      return await task();
    } catch (error) {
      if ((error as Error).name !== 'AbortError') this.show('error', (error as Error).message);
      return undefined;
    }
  }
}
