/** Runs `fn` for every item, at most `limit` at once; every item is attempted. Returns the errors. */
export async function forEachBounded<T>(items: Iterable<T>, limit: number, fn: (item: T) => Promise<unknown>): Promise<unknown[]> {
  const errors: unknown[] = [];
  const waiting = items[Symbol.iterator]();
  const work = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      try {
        await fn(next.value);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, work));
  return errors;
}

/** How many nodes or links are worked on at once. */
export const concurrency = 8;
