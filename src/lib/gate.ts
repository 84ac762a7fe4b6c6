/** A shared-exclusive lock. Any number of changes hold it at once; the exclusive holder waits for them, and later ones wait for it. */
export class Gate {
  #inside = 0;
  #held: Promise<void> | undefined;
  #whenEmpty: (() => void) | undefined;

  async pass<T>(fn: () => Promise<T>): Promise<T> {
    while (this.#held) await this.#held;
    this.#inside += 1;
    try {
      return await fn();
    } finally {
      this.#inside -= 1;
      if (this.#inside === 0) this.#whenEmpty?.();
    }
  }

  async hold<T>(fn: () => Promise<T>): Promise<T> {
    while (this.#held) await this.#held;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    try {
      if (this.#inside > 0) {
        await new Promise<void>((empty) => {
          this.#whenEmpty = empty;
        });
        this.#whenEmpty = undefined;
      }
      return await fn();
    } finally {
      this.#held = undefined;
      resolve();
    }
  }
}
