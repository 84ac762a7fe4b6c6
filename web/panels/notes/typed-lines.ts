/** Lines that notes offer to type at a console: what the user reads must be all that is typed. */

/** Longest text that is offered. */
export const lineLimits = { lines: 30, characters: 2000 } as const;

export interface TypedLines {
  /** The lines, with hidden characters as `\u{…}`. */
  readonly shown: string;
  /** Why they are not offered. */
  readonly refusal: 'hidden' | 'long' | undefined;
}

/**
 * Characters without a picture of their own, or that change the order of others: controls, formats, spaces other than the usual one,
 * those that renderers ignore, and marks that lie on the character before them.
 */
const hidden = /(?![ \n])[\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/gu;

export function readTypedLines(text: string): TypedLines {
  const shown = text.replace(hidden, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  const isLong = text.length > lineLimits.characters || text.split('\n').length > lineLimits.lines;
  return { shown, refusal: shown !== text ? 'hidden' : isLong ? 'long' : undefined };
}
