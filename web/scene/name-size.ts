/** The size of names at a scale. */

/** Size of the names of nodes in the scene, and the least on the screen. */
const namePx = { standard: 12, least: 9 };

/** Changes in steps: each renders all names. */
export function nameSizePx(scale: number): number {
  return Math.max(namePx.standard, 2 * Math.ceil(namePx.least / scale / 2));
}

/** Characters of a name on the canvas; the panel of its node has all of them. */
const mostCharacters = 40;

export function shortName(text: string): string {
  if (text.length <= mostCharacters) return text;
  // No half of a character stays.
  return `${text.slice(0, mostCharacters - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
