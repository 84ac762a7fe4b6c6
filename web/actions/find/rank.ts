/** Orders the entries of the command menu by how well they match a text. */

export interface Entry {
  readonly label: string;
  /** Kind of the entry. */
  readonly hint: string;
  /** Other words to find it by, which are not shown. */
  readonly words?: string;
  /** Why it cannot be run now. */
  readonly lacks?: string;
}

/**
 * The best matches first, in their former order among equals. Every word of the text is in the label, in the hint, or begins one of the
 * other words. What cannot be run now is found by a text only.
 */
export function ranked<T extends Entry>(entries: readonly T[], text: string, most: number): readonly T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const scored = entries.flatMap((entry) => {
    const score = entry.lacks !== undefined && words.length === 0 ? undefined : scoreOf(entry, words);
    return score === undefined ? [] : [{ entry, score: score - (entry.lacks === undefined ? 0 : 0.5) }];
  });
  return scored
    .toSorted((one, other) => other.score - one.score)
    .slice(0, most)
    .map(({ entry }) => entry);
}

/** Undefined: no match. */
function scoreOf({ label, hint, words: others = '' }: Entry, words: readonly string[]): number | undefined {
  const name = label.toLowerCase();
  const more = hint.toLowerCase();
  let score = 0;
  for (const word of words) {
    const at = name.indexOf(word);
    if (at === 0) score += name === word ? 5 : 4;
    else if (at > 0) score += /[\s\-–_.(]/.test(name[at - 1] ?? '') ? 3 : 2;
    else if (more.includes(word) || others.split(' ').some((other) => other.startsWith(word))) score += 1;
    else return undefined;
  }
  return score;
}
