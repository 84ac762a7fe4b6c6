/**
 * Facts that must be true of a server that was killed. Each fact has a key and the values it may have: one, as soon as a change was
 * acknowledged; the old and the new one while an answer is missing, for a change that was not answered may have been made or not.
 */

/** Key to value; the empty text means that the thing does not exist. */
export type Change = Readonly<Record<string, string>>;

export class Facts {
  readonly #allowed = new Map<string, Set<string>>();

  /** The one value, or undefined while there are two. */
  value(key: string): string | undefined {
    const values = this.#allowed.get(key) ?? new Set(['']);
    return values.size === 1 ? [...values][0] : undefined;
  }

  /** Call before a request: the new values are possible from now on. */
  begin(change: Change): void {
    for (const [key, value] of Object.entries(change)) {
      const values = this.#allowed.get(key) ?? new Set(['']);
      this.#allowed.set(key, values.add(value));
    }
  }

  /** The request was answered with success: only the new values are possible. */
  done(change: Change): void {
    for (const [key, value] of Object.entries(change)) this.#allowed.set(key, new Set([value]));
  }

  /** The request was refused: as if it had not been. `before` are the values from before. */
  refused(before: Change): void {
    this.done(before);
  }

  /** Current values of the keys of a change. */
  before(change: Change): Change {
    return Object.fromEntries(Object.keys(change).map((key) => [key, this.value(key) ?? '']));
  }

  /** Compares with the server's state and returns the differences; then adopts that state. */
  check(shown: ReadonlyMap<string, string>): string[] {
    const problems: string[] = [];
    for (const key of new Set([...this.#allowed.keys(), ...shown.keys()])) {
      const values = this.#allowed.get(key) ?? new Set(['']);
      const value = shown.get(key) ?? '';
      if (!values.has(value)) {
        const expected = [...values].map((each) => each || 'nothing').join(' or ');
        problems.push(`${key} is ${value || 'gone'}, acknowledged was ${expected}`);
      }
      this.#allowed.set(key, new Set([value]));
    }
    return problems;
  }
}
