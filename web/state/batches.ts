/** Applies items one by one while they are few, and together when they arrive faster than the page can render each of them. */

/** Pause after an item, at least. */
const shortestMs = 16;

export class Batches<T> {
  readonly #apply: (items: readonly T[]) => void;
  #waiting: T[] = [];
  #pause: ReturnType<typeof setTimeout> | undefined;

  constructor(apply: (items: readonly T[]) => void) {
    this.#apply = apply;
  }

  push(item: T): void {
    this.#waiting.push(item);
    if (this.#pause === undefined) this.flush();
  }

  /** Applies what waits. */
  flush(): void {
    const items = this.#waiting;
    this.#waiting = [];
    const startMs = performance.now();
    if (items.length > 0) this.#apply(items);
    // Rendering follows in microtasks. The pause is as long as the work was, so that items arrive meanwhile.
    queueMicrotask(() => this.#rest(Math.max(shortestMs, performance.now() - startMs)));
  }

  #rest(pauseMs: number): void {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      if (this.#waiting.length > 0) this.flush();
    }, pauseMs);
  }
}
