/**
 * A link's filters as a form edits them: for both directions, or for one. A value for one direction overrides the value for both
 * (`docs/impairments.md`).
 */
import type { Filters, FilterValues } from '../../src/schema/filter.ts';
import type { FilterFacts, FilterParameter } from '../../src/schema/filter-table.ts';

/** `ab`: from the link's first node to its second. */
export type Way = 'both' | 'ab' | 'ba';
export type FilterObject = Readonly<Record<string, FilterValues>>;

/** Filters that most users set; they are always shown. */
export const mainTypes: readonly string[] = ['delay', 'packet_loss', 'bandwidth'];

/** The order of all others in the form; further filters of the server follow. */
export const filterGroups = {
  time: ['jitter'],
  loss: ['burst_loss', 'frequency_drop', 'bpf'],
  damage: ['corrupt', 'duplicate', 'reorder'],
  scope: ['match'],
  repeat: ['seed'],
} as const;

/** Values of the link as a whole. */
const undirected: readonly string[] = ['seed'];

/** Defaults of omitted values that are not 0. Source: `docs/impairments.md`. */
const leftOut: Readonly<Record<string, (first: number) => FilterValues>> = {
  burst_loss: (begins) => [begins, 100 - begins, 0, 100],
  jitter: () => [0, 'uniform'],
};

export function keyOf(type: string, way: Way): string {
  return way === 'both' || undirected.includes(type) ? type : `${type}_${way}`;
}

/** GNS3 has a second name for a delay without jitter; the form has one. */
export function withoutAliases(filters: Filters | FilterObject): FilterObject {
  return Object.fromEntries(
    Object.entries(filters)
      .filter((entry): entry is [string, FilterValues] => entry[1] !== undefined)
      .map(([key, values]) => [key.replace(/^latency(?=_|$)/, 'delay'), values]),
  );
}

/** The filters that the form shows for a direction, without those that the server lists only because one direction has them. */
export function offeredTypes(facts: readonly FilterFacts[], way: Way): readonly FilterFacts[] {
  return facts.filter(({ type }) => !/_(ab|ba)$/.test(type) && (way === 'both' || !undirected.includes(type)));
}

export interface Edit {
  readonly facts: FilterFacts;
  readonly way: Way;
  /** Index of the value. */
  readonly place: number;
  /** Undefined: cleared. */
  readonly value: number | string | undefined;
}

/** The filters after one value changed. A filter whose text, or else its first value, is empty or 0 is omitted: it has no effect. */
export function edited(filters: FilterObject, { facts, way, place, value }: Edit): FilterObject {
  const key = keyOf(facts.type, way);
  const values = [...(filters[key] ?? [])];
  const { [key]: _, ...others } = filters;
  const deciding = Math.max(
    facts.parameters.findIndex(({ type }) => type === 'text'),
    0,
  );
  if (place === deciding && isNothing(value)) return others;
  const defaults = leftOut[facts.type]?.(Number(place === 0 ? value : values[0])) ?? [];
  if (!isNothing(value)) values[deciding] ??= defaults[deciding] ?? nothingOf(facts.parameters[deciding]);
  for (let before = 0; before < place; before += 1) values[before] ??= defaults[before] ?? nothingOf(facts.parameters[before]);
  values[place] = value ?? defaults[place] ?? nothingOf(facts.parameters[place]);
  if (value === undefined && place === values.length - 1) values.pop();
  return isNothing(values[deciding]) ? others : { ...others, [key]: values };
}

const isNothing = (value: number | string | undefined) => value === undefined || value === 0 || value === '';
const nothingOf = (parameter: FilterParameter | undefined) => (parameter?.type === 'text' ? '' : 0);

/** Filters that change: to their values, or to null, which removes one. */
export type FilterChanges = Readonly<Record<string, FilterValues | null>>;

/** The changes that lead from one set of filters to another. */
export function changesBetween(before: FilterObject, after: FilterObject): FilterChanges {
  const removed = Object.keys(before).filter((key) => !(key in after));
  const changed = Object.entries(after).filter(([key, values]) => JSON.stringify(values) !== JSON.stringify(before[key]));
  return Object.fromEntries([...removed.map((key) => [key, null] as const), ...changed]);
}

export function withChanges(filters: FilterObject, changes: FilterChanges): FilterObject {
  const merged = Object.entries({ ...filters, ...changes });
  return Object.fromEntries(merged.filter((entry): entry is [string, FilterValues] => entry[1] !== null));
}

/** Swaps the two directions. */
export function turned(filters: FilterObject): FilterObject {
  return Object.fromEntries(
    Object.entries(filters).map(([key, values]) => [
      key.replace(/_(ab|ba)$/, (_, way: string) => (way === 'ab' ? '_ba' : '_ab')),
      values,
    ]),
  );
}

/** Number of filters set for one direction alone. */
export function countOf(filters: FilterObject, way: Way): number {
  return Object.keys(filters).filter((key) => (/_(ab|ba)$/.exec(key)?.[1] ?? 'both') === way).length;
}

export const sameFilters = (one: FilterObject, other: FilterObject): boolean => text(one) === text(other);
const text = (filters: FilterObject) => JSON.stringify(Object.entries(filters).sort(([one], [other]) => (one < other ? -1 : 1)));
