/** Finds the nodes and links that the words of a command name. */

/** Names of an item: its own, and those of parts by which it is known as well, as a link is by its two nodes. */
export interface Names {
  readonly whole: readonly string[];
  readonly parts?: readonly string[];
}

/**
 * The items that the text names: those of this very name first, then those with a part of this name, then those whose name begins so.
 * Case, spaces and dashes do not matter: `pc1 sw1` names the link from `PC1` to `SW-1`. Without a text: all of them.
 */
export function matching<T>(items: readonly T[], text: string, namesOf: (item: T) => Names): readonly T[] {
  const wanted = plain(text);
  if (wanted === '') return items;
  const scored = items.flatMap((item) => {
    const { whole, parts = [] } = namesOf(item);
    const score = scoreOf(wanted, whole.map(plain), parts.map(plain));
    return score > 0 ? [{ item, score }] : [];
  });
  return scored.toSorted((one, other) => other.score - one.score).map(({ item }) => item);
}

function scoreOf(wanted: string, whole: readonly string[], parts: readonly string[]): number {
  if (whole.includes(wanted)) return 3;
  if (parts.includes(wanted)) return 2;
  return [...whole, ...parts].some((name) => name.startsWith(wanted)) ? 1 : 0;
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[\s,–—-]+/g, '');

/** The items that are named one by one, each by its very name; undefined when a word names none, or there is one word only. */
export function eachNamed<T>(items: readonly T[], text: string, nameOf: (item: T) => string): readonly T[] | undefined {
  const words = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  const byName = new Map(items.map((item) => [nameOf(item).toLowerCase(), item]));
  const found = [...new Set(words)].flatMap((word) => byName.get(word) ?? []);
  return found.length > 1 && found.length === new Set(words).size ? found : undefined;
}
