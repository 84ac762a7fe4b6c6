/** Brings two changes of one text together, line by line. */
import { diffArrays } from 'diff';

/** A comparison does not hold the page longer. */
const limitMs = 300;

/** Lines of the first text, from `start` to before `end`, that stand otherwise in the second one. */
interface Region {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** Merges what two texts changed of `base`. @returns undefined when both changed the same lines, or too much */
export function mergeTexts(base: string, mine: string, theirs: string): string | undefined {
  const lines = base.split('\n');
  const [own, others] = [regionsOf(lines, mine), regionsOf(lines, theirs)];
  if (!own || !others) return undefined;
  const isKnown = (one: Region) => own.some((region) => isSame(region, one));
  const fresh = others.filter((region) => !isKnown(region));
  if (fresh.some((one) => own.some((other) => touch(one, other)))) return undefined;
  const merged: string[] = [];
  let at = 0;
  for (const { start, end, lines: changed } of [...own, ...fresh].toSorted(
    (one, other) => one.start - other.start || one.end - other.end,
  )) {
    merged.push(...lines.slice(at, start), ...changed);
    at = end;
  }
  return [...merged, ...lines.slice(at)].join('\n');
}

function regionsOf(base: string[], text: string): Region[] | undefined {
  const parts = diffArrays(base, text.split('\n'), { timeout: limitMs });
  if (!parts) return undefined;
  const regions: Region[] = [];
  let at = 0;
  for (const { added, removed, value } of parts) {
    const last = regions.at(-1);
    // Lines that are removed and added in one place are one region.
    const open = last?.end === at && (added || removed) ? regions.pop() : undefined;
    const { start, lines } = open ?? { start: at, lines: [] };
    const end = added ? at : at + value.length;
    if (added || removed) regions.push({ start, end, lines: added ? [...lines, ...value] : lines });
    at = end;
  }
  return regions;
}

const isSame = (one: Region, other: Region) =>
  one.start === other.start && one.end === other.end && one.lines.join('\n') === other.lines.join('\n');

/** Two regions share a line, or begin in one place, so that their order is not known. */
const touch = (one: Region, other: Region) => one.start === other.start || (one.start < other.end && other.start < one.end);
