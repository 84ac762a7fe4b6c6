/** Shares a read between all that ask while an earlier one is under way: for what takes long and is asked for by many at once. */
export class SharedRead<T> {
  readonly #read: () => Promise<T>;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<T> | undefined;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /** The result of a read that begins after this call. At most one runs, and at most one waits. */
  latest(): Promise<T> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<T> {
    await this.#running;
    this.#next = undefined;
    const read = this.#read();
    this.#running = read.catch(() => undefined);
    return read;
  }
}
