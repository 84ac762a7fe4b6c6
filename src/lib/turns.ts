/** Splits long work on the event loop into short turns, so that requests are answered in between. */

/** Length of a turn, ms. */
const turnMs = 5;

export class Turns {
  #ends = performance.now() + turnMs;

  get isOver(): boolean {
    return performance.now() >= this.#ends;
  }

  /** Resolves after all waiting work had a turn. */
  async next(): Promise<void> {
    await new Promise(setImmediate);
    this.#ends = performance.now() + turnMs;
  }
}

/** Maps items with `fn`, in order and in short turns; not to promises: one that rejects meanwhile has no listener (`forEachBounded`). */
export async function mapInTurns<T, R>(items: Iterable<T>, fn: (item: T) => R): Promise<R[]> {
  const turns = new Turns();
  const results: R[] = [];
  for (const item of items) {
    results.push(fn(item));
    if (turns.isOver) await turns.next();
  }
  return results;
}
