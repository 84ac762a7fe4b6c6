/** Chance that can be repeated: the same in every run unless `PATCHBAY_TEST_SEED` is another; the seed is printed. */

export interface Chance {
  readonly seed: number;
  /** A number of at least 0 and below 1. */
  next(): number;
  /** Whole, both ends included. */
  between(first: number, last: number): number;
  pick<T>(list: readonly T[]): T | undefined;
}

/** Mulberry32, by Tommy Ettinger, public domain. */
export function makeChance(seed = Number(process.env.PATCHBAY_TEST_SEED) || 1): Chance {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (first: number, last: number) => first + Math.floor(next() * (last - first + 1));
  return { seed, next, between, pick: (list) => list[Math.floor(next() * list.length)] };
}
