/**
 * Texts that are not saved: neither closing their dialog nor loading the page again loses them. They are kept in this tab, as some
 * hold passwords, until it is closed or the user signs out.
 */
import { signal } from '@preact/signals';

export class Drafts {
  readonly #prefix: string;
  /** Drafts in memory, including those for which the browser has no room. */
  readonly #texts = signal<ReadonlyMap<string, string>>(new Map());

  constructor(projectId: string) {
    this.#prefix = `patchbay.draft.${projectId}.`;
  }

  /** A view that calls this re-renders when a draft changes. */
  of(key: string): string | undefined {
    return this.#texts.value.get(key) ?? sessionStorage.getItem(this.#prefix + key) ?? undefined;
  }

  /** `undefined`: it is saved or discarded. */
  set(key: string, text: string | undefined): void {
    const texts = new Map(this.#texts.peek());
    sessionStorage.removeItem(this.#prefix + key);
    if (text === undefined) texts.delete(key);
    else {
      texts.set(key, text);
      try {
        sessionStorage.setItem(this.#prefix + key, text);
      } catch {
        // The browser's quota; a reload loses this draft.
      }
    }
    this.#texts.value = texts;
  }
}
