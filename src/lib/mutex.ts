/** Runs functions one after the other. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(fn: () => Promise<T> | T): Promise<T> {
    const result = this.#last.then(fn, fn);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/** A mutex per key; a key without users takes no memory. */
export class KeyedMutex {
  readonly #entries = new Map<string, { mutex: Mutex; users: number }>();

  /** Runs `fn` while holding all keys. Keys are locked in sorted order, so that two callers never wait for each other. */
  runAll<T>(keys: Iterable<string>, fn: () => Promise<T> | T): Promise<T> {
    const sorted = [...new Set(keys)].sort();
    const from = (index: number): Promise<T> => {
      const key = sorted[index];
      return key === undefined ? Promise.resolve(fn()) : this.run(key, () => from(index + 1));
    };
    return from(0);
  }

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
