/** Counts the users of things by key, so that nothing in use is removed. */
export class UseCounts {
  readonly #counts = new Map<string, number>();

  async during<T>(key: string, fn: () => Promise<T>): Promise<T> {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    try {
      return await fn();
    } finally {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    }
  }

  has(key: string): boolean {
    return this.#counts.has(key);
  }
}
