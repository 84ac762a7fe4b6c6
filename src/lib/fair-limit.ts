/** Limits concurrent tasks, in total and per client. Waiting clients take turns, so that one client never fills the queue. */
interface Client {
  running: number;
  readonly waiting: (() => void)[];
}

export class FairLimit {
  readonly #total: number;
  readonly #each: number;
  /** Clients in the order of their turns. */
  readonly #clients = new Map<string, Client>();
  #running = 0;

  constructor({ total, each }: { readonly total: number; readonly each: number }) {
    this.#total = total;
    this.#each = each;
  }

  async run<T>(client: string, fn: () => Promise<T>): Promise<T> {
    await this.enter(client);
    try {
      return await fn();
    } finally {
      this.leave(client);
    }
  }

  /** Resolves when the client may begin; it must call `leave` afterwards. */
  async enter(client: string): Promise<void> {
    const own = this.#clients.get(client) ?? { running: 0, waiting: [] };
    this.#clients.set(client, own);
    await new Promise<void>((begin) => {
      own.waiting.push(begin);
      this.#beginNext();
    });
  }

  leave(client: string): void {
    const own = this.#clients.get(client);
    if (own) own.running -= 1;
    if (own?.running === 0 && own.waiting.length === 0) this.#clients.delete(client);
    this.#running -= 1;
    this.#beginNext();
  }

  /** Starts a task of the client with the fewest running tasks; among several, of the one whose last turn is longest ago. */
  #beginNext(): void {
    if (this.#running >= this.#total) return;
    let next: [string, Client] | undefined;
    for (const [client, own] of this.#clients) {
      const isFree = own.waiting.length > 0 && own.running < this.#each;
      if (isFree && own.running < (next?.[1].running ?? this.#each)) next = [client, own];
    }
    if (!next) return;
    const [client, own] = next;
    own.running += 1;
    this.#running += 1;
    this.#clients.delete(client);
    this.#clients.set(client, own);
    own.waiting.shift()?.();
  }
}
