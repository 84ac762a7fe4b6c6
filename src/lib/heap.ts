/** A binary heap: the smallest item is first. Each item stores its position, so that it can be moved. */

export interface Placed {
  /** Position in the heap, or `outside`; only the heap writes it. */
  place: number;
}
export const outside = -1;

export class Heap<T extends Placed> {
  readonly #items: T[] = [];
  readonly #isBefore: (one: T, other: T) => boolean;

  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get length(): number {
    return this.#items.length;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#rise(item, this.#items.push(item) - 1);
  }

  /** Removes and returns the first item. */
  shift(): T | undefined {
    const first = this.#items[0];
    if (!first) return undefined;
    const last = this.#items.pop() as T;
    first.place = outside;
    if (last !== first) this.#sink(last);
    return first;
  }

  /** Must be called when `item`, which is in the heap, now comes earlier. */
  advanced(item: T): void {
    this.#rise(item, item.place);
  }

  /** Returns all items in no particular order. Changes to them must not change their order. */
  values(): Iterable<T> {
    return this.#items;
  }

  clear(): void {
    for (const item of this.#items) item.place = outside;
    this.#items.length = 0;
  }

  #rise(item: T, from: number): void {
    const items = this.#items;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent] as T;
      if (!this.#isBefore(item, above)) break;
      this.#put(above, at);
      at = parent;
    }
    this.#put(item, at);
  }

  #sink(item: T): void {
    const items = this.#items;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#isBefore(items[child + 1] as T, items[child] as T)) child += 1;
      const below = items[child] as T;
      if (!this.#isBefore(below, item)) break;
      this.#put(below, at);
      at = child;
    }
    this.#put(item, at);
  }

  #put(item: T, at: number): void {
    this.#items[at] = item;
    item.place = at;
  }
}
