/** Long work on the event loop in short turns, so that requests are answered in between. */

/** Time after which other work gets a turn, milliseconds. */
const turnMs = 5;

export class Turns {
  #ends = performance.now() + turnMs;

  get isOver(): boolean {
    return performance.now() >= this.#ends;
  }

  /** Resolves when everything that waited has had its turn. */
  async next(): Promise<void> {
    await new Promise(setImmediate);
    this.#ends = performance.now() + turnMs;
  }
}

/** `fn` of every item, in order. */
export async function mapInTurns<T, R>(items: Iterable<T>, fn: (item: T) => R): Promise<R[]> {
  const turns = new Turns();
  const results: R[] = [];
  for (const item of items) {
    results.push(fn(item));
    if (turns.isOver) await turns.next();
  }
  return results;
}
