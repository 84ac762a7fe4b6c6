/** Values of a filter between two steps. */
import { type FilterKey, type Filters, type FilterValues, wholeValues } from '../../schema/filter.ts';

/** Values of a link's own filter; empty when it has none. */
export function valuesOf(filters: Filters, name: string): FilterValues {
  return filters[name as FilterKey] ?? [];
}

/**
 * Linear in every number; texts are those of `to`. A number that `from` lacks counts as 0, but a bandwidth of 0 is none at all, and
 * what begins there is at once as it will be. A seed has no values in between.
 */
export function between(name: string, [from, to]: readonly [FilterValues, FilterValues], part: number): FilterValues {
  if (name.startsWith('bandwidth') && !(Number(from[0]) > 0 && Number(to[0]) > 0)) return to;
  if (name === 'seed') return to;
  const whole = wholeValues(name);
  return to.map((value, place) => {
    const before = from[place] ?? 0;
    if (typeof value !== 'number' || typeof before !== 'number') return value;
    const now = before + (value - before) * part;
    return whole[place] ? Math.round(now) : now;
  });
}
