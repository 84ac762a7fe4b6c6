/** Orders the entries of the command menu by how well they match a text. */

export interface Entry {
  readonly label: string;
  /** Kind of the entry, or other words to find it by. */
  readonly hint: string;
}

/** The best matches first, in their former order among equals. Every word of the text is in the label or the hint. */
export function ranked<T extends Entry>(entries: readonly T[], text: string, most: number): readonly T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const scored = entries.flatMap((entry) => {
    const score = scoreOf(entry, words);
    return score === undefined ? [] : [{ entry, score }];
  });
  return scored
    .toSorted((one, other) => other.score - one.score)
    .slice(0, most)
    .map(({ entry }) => entry);
}

/** Undefined: no match. */
function scoreOf({ label, hint }: Entry, words: readonly string[]): number | undefined {
  const name = label.toLowerCase();
  const more = hint.toLowerCase();
  let score = 0;
  for (const word of words) {
    const at = name.indexOf(word);
    if (at === 0) score += name === word ? 5 : 4;
    else if (at > 0) score += /[\s\-–_.(]/.test(name[at - 1] ?? '') ? 3 : 2;
    else if (more.includes(word)) score += 1;
    else return undefined;
  }
  return score;
}
