/** Searches the first bad item of an ordered list in which all items before it are good, like `git bisect`. */

/** Verdict on an item; `skip`: the item cannot be judged. */
export type BisectVerdict = 'good' | 'bad' | 'skip';

/**
 * Result of the search. `undecided`: skipped items between the two. Without `firstBad` the newest item that could be judged is
 * good.
 */
export interface BisectResult<T> {
  readonly lastGood: T | undefined;
  readonly firstBad: T | undefined;
  readonly undecided: readonly T[];
}

/** Judges the newest item, the oldest one, and then about log2 of the number of items; each at most once. */
export async function bisect<T>(items: readonly T[], judge: (item: T) => Promise<BisectVerdict>): Promise<BisectResult<T>> {
  const search = new BisectSearch(items, judge);
  await search.findBad();
  if (search.isBadKnown) {
    await search.findGood();
    await search.narrow();
  }
  return search.result();
}

class BisectSearch<T> {
  readonly #items: readonly T[];
  readonly #judge: (item: T) => Promise<BisectVerdict>;
  readonly #skipped = new Set<number>();
  /** Indexes of the newest good and the oldest bad item so far. */
  #good = -1;
  #bad: number;

  constructor(items: readonly T[], judge: (item: T) => Promise<BisectVerdict>) {
    this.#items = items;
    this.#judge = judge;
    this.#bad = items.length;
  }

  get isBadKnown(): boolean {
    return this.#bad < this.#items.length;
  }

  /** Searches the newest item that is not skipped. */
  async findBad(): Promise<void> {
    for (let index = this.#items.length - 1; index >= 0; index--) if ((await this.#at(index)) !== 'skip') return;
  }

  /** Searches the oldest item that is not skipped. */
  async findGood(): Promise<void> {
    for (let index = 0; index < this.#bad; index++) if ((await this.#at(index)) !== 'skip') return;
  }

  async narrow(): Promise<void> {
    for (let open = this.#open(); open.length > 0; open = this.#open()) await this.#at(open[Math.floor(open.length / 2)] as number);
  }

  result(): BisectResult<T> {
    const from = this.#good + 1;
    const undecided = this.#items.slice(from, this.#bad).filter((_, offset) => this.#skipped.has(from + offset));
    return { lastGood: this.#items[this.#good], firstBad: this.#items[this.#bad], undecided };
  }

  async #at(index: number): Promise<BisectVerdict> {
    const verdict = await this.#judge(this.#items[index] as T);
    if (verdict === 'good') this.#good = Math.max(this.#good, index);
    else if (verdict === 'bad') this.#bad = Math.min(this.#bad, index);
    else this.#skipped.add(index);
    return verdict;
  }

  #open(): number[] {
    const between = Array.from({ length: this.#bad - this.#good - 1 }, (_, offset) => this.#good + 1 + offset);
    return between.filter((index) => !this.#skipped.has(index));
  }
}
