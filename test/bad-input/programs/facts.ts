/**
 * Values that a server's state may have: one for each key as soon as a change was acknowledged; the old and the new one while an answer
 * is missing, and those of all clients that changed the same thing at once.
 */

/** Key to value; the empty text means that the thing does not exist. */
export type Change = Readonly<Record<string, string>>;

interface Entry {
  allowed: Set<string>;
  writers: number;
  /** Whether several clients changed the value at the same time, so that each of their changes may be the last. */
  isContended: boolean;
}

/** A change whose answer is awaited. */
export interface Claim {
  done(): void;
  refused(): void;
  /** Ends a change without an answer: it was made or not. */
  lost(): void;
}

export class Facts {
  readonly #entries = new Map<string, Entry>();

  /** Keys below a prefix that may exist. */
  keys(prefix: string): string[] {
    return [...this.#entries].filter(([key, { allowed }]) => key.startsWith(prefix) && !isGone(allowed)).map(([key]) => key);
  }

  /** The one value; undefined where several are possible. */
  value(key: string): string | undefined {
    const { allowed } = this.#entry(key);
    return allowed.size === 1 ? [...allowed][0] : undefined;
  }

  /** `perhaps`: values that a change without an answer may leave, too. */
  begin(change: Change, perhaps: Change = {}): Claim {
    const claimed = Object.entries(change).map(([key, value]) => {
      const entry = this.#entry(key);
      const before = new Set(entry.allowed);
      entry.writers += 1;
      if (entry.writers > 1) entry.isContended = true;
      entry.allowed.add(value);
      const other = perhaps[key];
      if (other !== undefined) entry.allowed.add(other);
      return { entry, before, value };
    });
    const end = (settle: (each: (typeof claimed)[number]) => void) => () => {
      for (const each of claimed) {
        if (!each.entry.isContended) settle(each);
        each.entry.writers -= 1;
        if (each.entry.writers === 0) each.entry.isContended = false;
      }
    };
    return {
      done: end(({ entry, value }) => {
        entry.allowed = new Set([value]);
      }),
      refused: end(({ entry, before }) => {
        entry.allowed = before;
      }),
      lost: end(() => undefined),
    };
  }

  /** Takes over the state below a prefix, whatever it is. */
  adopt(prefix: string, shown: ReadonlyMap<string, string>): void {
    for (const key of new Set([...this.#under(prefix), ...shown.keys()]))
      this.#entry(key).allowed = new Set([shown.get(key) ?? '']);
  }

  /**
   * Compares with the state below a prefix and returns the differences; then adopts that state. `mayDiffer`: the value may
   * be another one by now.
   */
  check(prefix: string, shown: ReadonlyMap<string, string>, mayDiffer: (key: string, value: string) => boolean): string[] {
    const problems = [...new Set([...this.#under(prefix), ...shown.keys()])].flatMap((key) => {
      const { allowed } = this.#entry(key);
      const value = shown.get(key) ?? '';
      if (allowed.has(value) || mayDiffer(key, value)) return [];
      const expected = [...allowed].map((each) => each || 'nothing').join(' or ');
      return [`${key} is ${value || 'gone'}, acknowledged was ${expected}`];
    });
    this.adopt(prefix, shown);
    return problems;
  }

  #under(prefix: string): string[] {
    return [...this.#entries.keys()].filter((key) => key.startsWith(prefix));
  }

  #entry(key: string): Entry {
    const entry = this.#entries.get(key) ?? { allowed: new Set(['']), writers: 0, isContended: false };
    this.#entries.set(key, entry);
    return entry;
  }
}

const isGone = (allowed: ReadonlySet<string>) => allowed.size === 1 && allowed.has('');
