/**
 * Joins requests of one kind into one: the items of all requests that are made in a turn of the event loop leave together. A thousand nodes
 * that start cost a few messages to the fabric instead of thousands.
 */
import type { LinkFailure, LinkSpec, PcReport, PcSpec } from '../protocol.ts';

/** Items, and approximate bytes, of one request: the fabric reads it in one turn of its loop. */
const mostItems = 64;
const mostBytes = 256 * 1024;
/** States of PCs that are answered together: each has kilobytes, and may have megabytes. */
const statesAtOnce = 8;

interface BatchOptions<Item, Result> {
  readonly send: (items: Item[]) => Promise<Result>;
  /** The part of a result that is for these items; `from` is the number of items before them. */
  readonly share: (result: Result, items: readonly Item[], from: number) => Result;
  /** Two items with one key are sent one after the other. */
  readonly keyOf: (item: Item) => string;
  /** Items of one request at most. Default 64. */
  readonly mostItems?: number;
}

interface JoinedRequest<Item, Result> {
  readonly items: readonly Item[];
  readonly from: number;
  readonly result: PromiseWithResolvers<Result>;
}

export class RequestBatch<Item, Result> {
  readonly #options: BatchOptions<Item, Result>;
  #parts: JoinedRequest<Item, Result>[] = [];
  readonly #keys = new Set<string>();
  #items: Item[] = [];
  #bytes = 0;

  constructor(options: BatchOptions<Item, Result>) {
    this.#options = options;
  }

  add(items: readonly Item[]): Promise<Result> {
    const keys = items.map(this.#options.keyOf);
    const bytes = JSON.stringify(items).length;
    const { mostItems: limit = mostItems } = this.#options;
    const isFull = this.#items.length + items.length > limit || this.#bytes + bytes > mostBytes;
    if (isFull || keys.some((key) => this.#keys.has(key))) this.flush();
    if (this.#parts.length === 0) setImmediate(() => this.flush());
    const part = { items, from: this.#items.length, result: Promise.withResolvers<Result>() };
    this.#parts.push(part);
    this.#items.push(...items);
    this.#bytes += bytes;
    for (const key of keys) this.#keys.add(key);
    return part.result.promise;
  }

  /** Sends the items that wait. */
  flush(): void {
    if (this.#parts.length === 0) return;
    const [parts, items] = [this.#parts, this.#items];
    this.#parts = [];
    this.#items = [];
    this.#bytes = 0;
    this.#keys.clear();
    const { send, share } = this.#options;
    send(items).then(
      (result) => {
        for (const { items: own, from, result: part } of parts) part.resolve(share(result, own, from));
      },
      (error: unknown) => {
        // A refusal may concern one request only: each is repeated alone.
        for (const { items: own, result: part } of parts) {
          if (parts.length === 1) part.reject(error);
          else part.resolve(send([...own]));
        }
      },
    );
  }
}

/** Makes PCs; answers how they are, in their order. */
export function pcBatch(send: (pcs: PcSpec[]) => Promise<PcReport[]>): RequestBatch<PcSpec, PcReport[]> {
  return new RequestBatch<PcSpec, PcReport[]>({
    send,
    share: (reports, pcs, from) => reports.slice(from, from + pcs.length),
    keyOf: ({ id }) => id,
  });
}

/** Reads states of PCs, in their order; null for one that does not run. */
export function stateBatch(send: (ids: string[]) => Promise<unknown[]>): RequestBatch<string, unknown[]> {
  return new RequestBatch<string, unknown[]>({
    send,
    share: (states, ids, from) => states.slice(from, from + ids.length),
    keyOf: (id) => id,
    mostItems: statesAtOnce,
  });
}

/** Applies links; answers those that are not as asked for. */
export function linkBatch(send: (links: LinkSpec[]) => Promise<LinkFailure[]>): RequestBatch<LinkSpec, LinkFailure[]> {
  return new RequestBatch<LinkSpec, LinkFailure[]>({
    send,
    share: (failures, links) => failures.filter((failure) => links.some(({ id }) => id === failure.id)),
    keyOf: ({ id }) => id,
  });
}
