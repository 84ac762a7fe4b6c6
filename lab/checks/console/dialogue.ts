/** Records the dialogue with a console for the report. */

export interface DialogueEntry {
  /** Time since the beginning of the test, ms. */
  readonly atMs: number;
  readonly direction: 'sent' | 'received';
  text: string;
}

/** Most characters of one console's dialogue; the middle of a longer one is left out. */
const mostCharacters = 1_000_000;

export class Dialogue {
  readonly node: string;
  readonly entries: DialogueEntry[] = [];
  readonly #now: () => number;
  #characters = 0;

  /** `now`: ms since the beginning of the test. */
  constructor(node: string, now: () => number) {
    this.node = node;
    this.#now = now;
  }

  add(direction: DialogueEntry['direction'], text: string): void {
    const room = mostCharacters - this.#characters;
    if (room <= 0 || text === '') return;
    const kept = text.slice(0, room);
    this.#characters += kept.length;
    const last = this.entries.at(-1);
    if (last?.direction === direction) last.text += kept;
    else this.entries.push({ atMs: Math.round(this.#now()), direction, text: kept });
    if (kept.length === room) this.entries.push({ atMs: Math.round(this.#now()), direction, text: '\n(the rest is left out)\n' });
  }
}
