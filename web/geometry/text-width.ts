/** Estimates how wide a text is drawn, without a browser, so that labels are placed alike everywhere. */

/** Hundredths of the font size, for the page's font at weight 500; rounded up. */
const widths: readonly (readonly [characters: string, width: number])[] = [
  ["ijl I!.,:;·'|`", 31],
  ['t()[]/\\', 37],
  ['fr1{}-_', 46],
  ['"–^*?sJ', 58],
  ['akxyzvceghnopqubd7L5F2', 61],
  ['E368904#PZ$&RSTB+<=>~±×', 68],
  ['KXYAVDC', 73],
  ['HUGNOQ', 78],
  ['mwM…→', 91],
  ['@%W', 100],
];
const widthOf: ReadonlyMap<string, number> = new Map(
  widths.flatMap(([characters, width]) => [...characters].map((character) => [character, width] as const)),
);
/** Letters of other alphabets: those of Asian ones are squares. */
const otherWidth = (character: string) => (character > '\u2e80' ? 100 : 70);

/** Pixels. */
export function textWidth(text: string, sizePx: number): number {
  let sum = 0;
  for (const character of text) sum += widthOf.get(character) ?? otherWidth(character);
  return (sum * sizePx) / 100;
}
