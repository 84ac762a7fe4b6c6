/** Filtered lists of accounts, kept while neither the list nor the rights change, so that their text is made once. */

interface KeptList {
  readonly list: object;
  readonly rights: object;
  readonly found: readonly unknown[];
}

/** Most items of all lists that are kept. */
const mostItems = 20_000;
/** Items that an empty list counts as, too. */
const ownItems = 20;

export class VisibleLists {
  /** Lists by account and privilege, the one that was made first at the front. */
  readonly #kept = new Map<string, KeptList>();
  #items = 0;

  /** Returns what `filter` finds in a frozen list. `rights`: another object after each change of rights. */
  of<T>(key: string, { list, rights }: { readonly list: readonly T[]; readonly rights: object }, filter: () => T[]): readonly T[] {
    const kept = this.#kept.get(key);
    if (kept?.list === list && kept.rights === rights) return kept.found as readonly T[];
    this.#drop(key);
    const found = Object.freeze(filter());
    this.#kept.set(key, { list, rights, found });
    this.#items += found.length + ownItems;
    for (const oldest of this.#kept.keys()) {
      if (this.#items <= mostItems) break;
      this.#drop(oldest);
    }
    return found;
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key);
    if (!kept) return;
    this.#kept.delete(key);
    this.#items -= kept.found.length + ownItems;
  }
}
