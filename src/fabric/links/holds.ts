/**
 * Leases of links or PCs for which time stands still. The fabric outlives the server, so each hold is a lease: a server that dies releases
 * all of them by its silence. Links and PCs that are made during their hold begin held.
 */
interface Holdable {
  hold(nowMs: number): Promise<void> | void;
  unhold(nowMs: number): void;
}

export class Holds {
  readonly #find: (id: string) => Holdable | undefined;
  /** Ends of the leases by id, ms of `performance.now()`. */
  readonly #leases = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(find: (id: string) => Holdable | undefined) {
    this.#find = find;
  }

  has(id: string): boolean {
    return this.#leases.has(id);
  }

  /** Begins or prolongs them. Settles when no frame of theirs passes the fabric by. */
  async hold(ids: readonly string[], leaseMs: number): Promise<void> {
    const nowMs = performance.now();
    const held = ids.map((id) => {
      this.#leases.set(id, nowMs + leaseMs);
      return this.#find(id)?.hold(nowMs);
    });
    this.#wait(nowMs);
    await Promise.all(held);
  }

  release(ids: readonly string[]): void {
    const nowMs = performance.now();
    for (const id of ids) if (this.#leases.delete(id)) this.#find(id)?.unhold(nowMs);
  }

  #expire(): void {
    const nowMs = performance.now();
    this.release([...this.#leases].flatMap(([id, endMs]) => (endMs <= nowMs ? [id] : [])));
    this.#wait(nowMs);
  }

  #wait(nowMs: number): void {
    clearTimeout(this.#timer);
    let nextMs = Number.POSITIVE_INFINITY;
    for (const endMs of this.#leases.values()) nextMs = Math.min(nextMs, endMs);
    if (this.#leases.size > 0) this.#timer = setTimeout(() => this.#expire(), Math.max(1, nextMs - nowMs)).unref();
  }
}
