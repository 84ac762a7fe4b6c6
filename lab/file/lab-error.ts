/** An error in a lab file, with its place, cause and fix. */

export interface Place {
  readonly file: string;
  /** Line, from 1. */
  readonly line: number;
  /** Column, from 1. */
  readonly column: number;
  /** Last line of the value; undefined for a place inside of a value. */
  readonly end?: number;
}

export class LabError extends Error {
  override readonly name = 'LabError';
  readonly place: Place | undefined;
  readonly status = 400;

  constructor(message: string, place?: Place) {
    super(place ? `${place.file}:${place.line}:${place.column}: ${message}` : message);
    this.place = place;
  }
}

/** Returns the known word that is closest to a misspelled one; undefined when none is close. */
export function closest(word: string, known: readonly string[]): string | undefined {
  const text = word.slice(0, 64).toLowerCase();
  const ranked = known.map((candidate) => ({ candidate, distance: editDistance(text, candidate.toLowerCase()) }));
  const [best] = ranked.sort((one, other) => one.distance - other.distance);
  return best && best.distance <= Math.ceil(text.length / 3) ? best.candidate : undefined;
}

/** Returns `. Did you mean "x"?`, or the list when no word is close. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = closest(word, known);
  if (near !== undefined) return `. Did you mean "${near}"?`;
  return known.length === 0 ? '' : `. Known: ${known.slice(0, 40).join(', ')}`;
}

function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const cost = one[i - 1] === other[j - 1] ? 0 : 1;
      next.push(Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, (row[j - 1] ?? 0) + cost));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
