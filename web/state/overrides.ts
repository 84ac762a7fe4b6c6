/**
 * Local states of items that override the server's while the user drags them, and until the server has answered. A change that
 * another client makes meanwhile is shown when the override ends.
 */
export class Overrides<State extends object> {
  readonly #entries = new Map<string, Override<State>>();

  /** Overrides an item until `release`. */
  hold(id: string, state: State): void {
    this.#entries.set(id, { state, isStored: false, later: undefined });
  }

  /**
   * Ends the override; `only`: unless another one replaced it. Returns what the server changed after it had stored the override, or
   * undefined.
   */
  release(id: string, only?: State): object | undefined {
    const entry = this.#entries.get(id);
    if (!entry || (only !== undefined && entry.state !== only)) return undefined;
    this.#entries.delete(id);
    return entry.later;
  }

  forget(id: string): void {
    this.#entries.delete(id);
  }

  /** The item as it is shown. `object`: as the server has just sent it, complete or in part. */
  applied<T extends object>(id: string, object: T): T {
    const entry = this.#entries.get(id);
    if (!entry) return object;
    // Objects that differ and come earlier are of the time before the server stored the override.
    if (isPartOf(entry.state, object)) {
      entry.isStored = true;
      entry.later = undefined;
    } else if (entry.isStored) entry.later = { ...entry.later, ...object };
    return { ...object, ...entry.state };
  }
}

interface Override<State> {
  readonly state: State;
  /** The server has sent the item with this state. */
  isStored: boolean;
  /** The item as the server sent it since; undefined: not sent. */
  later: object | undefined;
}

/** Whether the keys that both objects have are equal. */
function isPartOf(state: object, object: object): boolean {
  const other = object as Readonly<Record<string, unknown>>;
  return Object.entries(state).every(([key, value]) => !(key in other) || JSON.stringify(other[key]) === JSON.stringify(value));
}
