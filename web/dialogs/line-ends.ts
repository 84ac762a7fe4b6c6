/** A text field turns every line end into a line feed. This keeps those of the stored file, as far as its lines are still there. */
const lineEnd = /\r\n|\r|\n/g;

/** `edited`: as the field has it. Lines that were added get the line end that the file uses most. */
export function withLineEnds(edited: string, stored: string): string {
  const ends = stored.match(lineEnd) ?? [];
  if (ends.every((end) => end === '\n')) return edited;
  const usual = mostOf(ends);
  const [before, after] = [stored.split(lineEnd), edited.split('\n')];
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const shift = before.length - after.length;
  // The end of a line lies behind it, so that of the last unchanged line may be new.
  const endOf = (at: number) => (at < head ? ends[at] : at >= after.length - tail ? ends[at + shift] : usual) ?? usual;
  return after.map((line, at) => (at === after.length - 1 ? line : `${line}${endOf(at)}`)).join('');
}

function mostOf(ends: readonly string[]): string {
  const counts = Map.groupBy(ends, (end) => end);
  return [...counts].sort(([, one], [, other]) => other.length - one.length)[0]?.[0] ?? '\n';
}
