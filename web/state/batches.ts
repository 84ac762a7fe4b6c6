/** Applies items one by one while they are few, and together when they arrive faster than the page can render each of them. */

/** Pause after an item, at least. */
const shortestMs = 16;

export interface BatchesOptions<T> {
  readonly apply: (item: T) => void;
  /** Runs the application of several items as one change. */
  readonly together: (apply: () => void) => void;
  /** An item could not be applied; the others are. */
  readonly failed: (error: unknown) => void;
}

export class Batches<T> {
  readonly #options: BatchesOptions<T>;
  #waiting: T[] = [];
  #pause: ReturnType<typeof setTimeout> | undefined;

  constructor(options: BatchesOptions<T>) {
    this.#options = options;
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
    if (items.length > 0)
      this.#options.together(() => {
        for (const item of items) this.#apply(item);
      });
    // Rendering follows in microtasks. The pause is as long as the work was, so that items arrive meanwhile.
    queueMicrotask(() => this.#rest(Math.max(shortestMs, performance.now() - startMs)));
  }

  #apply(item: T): void {
    try {
      this.#options.apply(item);
    } catch (error) {
      this.#options.failed(error);
    }
  }

  #rest(pauseMs: number): void {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      if (this.#waiting.length > 0) this.flush();
    }, pauseMs);
  }
}
