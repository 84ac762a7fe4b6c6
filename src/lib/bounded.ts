import { Turns } from './turns.ts';

/**
 * Runs `fn` for every item, at most `limit` at once, in short turns of the event loop. A failure does not end the others. Returns
 * the errors.
 */
export async function forEachBounded<T>(items: Iterable<T>, limit: number, fn: (item: T) => Promise<unknown>): Promise<unknown[]> {
  const errors: unknown[] = [];
  const turns = new Turns();
  const waiting = items[Symbol.iterator]();
  let isEmpty = false;
  const take = () => {
    const next = waiting.next();
    isEmpty = next.done === true;
    return next;
  };
  const work = async () => {
    for (let next = take(); !next.done; next = take()) {
      try {
        await fn(next.value);
      } catch (error) {
        errors.push(error);
      }
      if (turns.isOver) await turns.next();
    }
  };
  const workers: Promise<void>[] = [];
  while (workers.length < limit && !isEmpty) {
    workers.push(work());
    if (turns.isOver) await turns.next();
  }
  await Promise.all(workers);
  return errors;
}

/** Most nodes or links that are changed at the same time. */
export const concurrency = 8;

/** Limits the number of concurrent calls; further ones wait in order. */
export class Limit {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<T>(fn: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>((turn) => this.#waiting.push(turn));
    else this.#running += 1;
    try {
      return await fn();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
