/** Runs one function after the other. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(fn: () => Promise<T> | T): Promise<T> {
    const result = this.#last.then(fn, fn);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/** One mutex for each key; nothing is kept for a key that nobody waits for. */
export class KeyedMutex {
  readonly #entries = new Map<string, { mutex: Mutex; users: number }>();

  async run<T>(key: string, fn: () => Promise<T> | T): Promise<T> {
    const entry = this.#entries.get(key) ?? { mutex: new Mutex(), users: 0 };
    this.#entries.set(key, entry);
    entry.users += 1;
    try {
      return await entry.mutex.run(fn);
    } finally {
      entry.users -= 1;
      if (entry.users === 0) this.#entries.delete(key);
    }
  }
}
