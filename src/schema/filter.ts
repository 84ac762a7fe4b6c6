/**
 * The `filters` object of a link, as sent and stored: a list of values per filter. `packet_loss` acts in both directions,
 * `packet_loss_ab` only on frames from the link's first node to its second, `packet_loss_ba` only on frames in the other direction.
 * A filter for one direction replaces the one for both. In a NIO's filters the NIO's own node is the first.
 */
import { type FilterFacts, type FilterParameter, type FilterType, filterTable } from './filter-table.ts';

export const linkDirections = ['ab', 'ba'] as const;
export type LinkDirection = (typeof linkDirections)[number];
export type FilterKey = FilterType | `${FilterType}_${LinkDirection}`;
export type FilterValues = readonly (number | string)[];
export type Filters = Readonly<Partial<Record<FilterKey, FilterValues>>>;
type NormalisedFilters = { ok: true; filters: Filters } | { ok: false; name: string; reason: string };

interface KnownKey {
  readonly facts: FilterFacts;
  readonly direction?: LinkDirection;
}

const knownKeys: ReadonlyMap<string, KnownKey> = new Map(
  filterTable.flatMap((facts): [string, KnownKey][] => [
    [facts.type, { facts }],
    ...(facts.undirected
      ? []
      : linkDirections.map((direction): [string, KnownKey] => [`${facts.type}_${direction}`, { facts, direction }])),
  ]),
);

/** Names of all filters, for the message about an unknown one. */
export const knownFilters = `${filterTable.map(({ type }) => type).join(', ')}; for one direction with _ab or _ba behind the name`;

/**
 * Checks a client's filters and converts them to stored form: numbers as numbers and before texts, text trimmed. Inactive filters
 * are left out (empty list, empty text, or without a text a first value of 0).
 */
export function normaliseFilters(given: Readonly<Record<string, unknown>>): NormalisedFilters {
  const filters: Partial<Record<FilterKey, FilterValues>> = {};
  for (const [name, values] of Object.entries(given)) {
    const checked = checkValues(knownKeys.get(name)?.facts, values);
    if ('reason' in checked) return { ok: false, name, reason: checked.reason };
    if (checked.isActive) filters[name as FilterKey] = checked.values;
  }
  for (const suffix of ['', '_ab', '_ba'] as const) {
    const name = `latency${suffix}` as const;
    if (filters[`delay${suffix}`] && filters[name]) return { ok: false, name, reason: 'give either delay or latency, not both' };
  }
  return { ok: true, filters };
}

/** Returns the filters with each one's numbers before its texts, the order of clients; unknown keys and values stay. */
export function numbersFirst(filters: Filters): Filters {
  return inOrder(filters, (value) => (isText(value) ? 1 : 0));
}

/** Returns the filters with each one's texts before its numbers, the order of NIOs, stored compute data and the fabric. */
export function textsFirst(filters: Filters): Filters {
  return inOrder(filters, (value) => (isText(value) ? 0 : 1));
}

function inOrder(filters: Filters, rank: (value: unknown) => number): Filters {
  const entries = Object.entries(filters).map(([key, values]) => {
    const isMixed = Array.isArray(values) && values.some(isText) && !values.every(isText);
    return [key, isMixed ? values.toSorted((one, other) => rank(one) - rank(other)) : values];
  });
  return Object.fromEntries(entries);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && !numberForm.test(value);
}

/** Returns the delay of frames in one direction, ms; 0: none. */
export function delayOf(filters: Filters, direction: LinkDirection): number {
  const { delay, latency } = filters;
  const [milliseconds = 0] = filters[`delay_${direction}`] ?? filters[`latency_${direction}`] ?? delay ?? latency ?? [];
  return Number(milliseconds);
}

/** Swaps the directions: returns the filters as the link's other end sees them. */
export function reversed<T extends Partial<Record<FilterKey, unknown>>>(filters: T): T {
  const turned = Object.entries(filters).map(([key, value]) => {
    const direction = knownKeys.get(key)?.direction;
    return [direction ? `${key.slice(0, -2)}${direction === 'ab' ? 'ba' : 'ab'}` : key, value];
  });
  return Object.fromEntries(turned) as T;
}

/**
 * Lists the filters that a link may have, for clients. Filters for one direction are listed only when the link has them, so that
 * clients which send the list back keep them. `names`: of the link's two nodes.
 */
export function offeredFilters(present: Filters, names: readonly [string, string]): FilterOffer[] {
  const offered = filterTable.filter(({ alias }) => !alias).map(offer);
  const directed = Object.keys(present).flatMap((key) => {
    const { facts, direction } = knownKeys.get(key) ?? {};
    if (!facts || !direction) return [];
    const [from, to] = direction === 'ab' ? names : [names[1], names[0]];
    return [{ ...offer(facts), type: key, name: `${facts.name}, ${from} to ${to} only` }];
  });
  return [...offered, ...directed];
}

/** Checks the values of one filter and returns them in stored form, or the fault. The filter may be inactive. */
export function checkFilter(name: string, values: unknown): Checked<{ values: FilterValues }> {
  return checkValues(knownKeys.get(name)?.facts, values);
}

/** Whether a filter's values, in stored form, have an effect. */
export function isActing(name: string, values: FilterValues): boolean {
  const facts = knownKeys.get(name)?.facts;
  return facts !== undefined && isActive(values[decidingPlace(facts)]);
}

/** Returns for each value of the filter whether it must be a whole number. */
export function wholeValues(name: string): readonly boolean[] {
  return knownKeys.get(name)?.facts.parameters.map(({ fractions }) => fractions !== true) ?? [];
}

/** A filter as clients are offered it; `type` is the key in a link's filters. */
export type FilterOffer = Omit<FilterFacts, 'type'> & { readonly type: string };

function offer({ type, name, description, parameters }: FilterFacts): FilterOffer {
  return { type, name, description, parameters };
}

/** Returns the parameters of the filter with this key, and the index of the one that decides whether it acts. */
export function findFilter(key: string): { parameters: readonly FilterParameter[]; deciding: number } | undefined {
  const facts = knownKeys.get(key)?.facts;
  return facts && { parameters: facts.parameters, deciding: decidingPlace(facts) };
}

const ofGns3 = filterTable.filter(({ isGns3 }) => isGns3);

/** Lists the filters that a stock GNS3 compute has, with whole numbers only. */
export function gns3Offers(): FilterOffer[] {
  return ofGns3
    .filter(({ alias }) => !alias)
    .map((facts) => ({ ...offer(facts), parameters: facts.parameters.map(({ fractions: _fractions, ...rest }) => rest) }));
}

/** Returns the first filter that a stock GNS3 compute cannot apply, and the reason. */
export function beyondGns3(filters: Filters): { name: string; reason: string } | undefined {
  for (const [name, values] of Object.entries(filters)) {
    if (!ofGns3.some(({ type }) => type === name))
      return { name, reason: 'the GNS3 compute that filters this link has no such filter' };
    if (values.some((value) => typeof value === 'number' && !Number.isInteger(value)))
      return { name, reason: 'the GNS3 compute that filters this link takes whole numbers only' };
  }
  return undefined;
}

type Checked<T> = T | { reason: string };

interface CheckedValues {
  readonly values: FilterValues;
  readonly isActive: boolean;
}

function checkValues(facts: FilterFacts | undefined, values: unknown): Checked<CheckedValues> {
  if (!facts) return { reason: 'there is no such filter' };
  if (!Array.isArray(values)) return { reason: 'its values must be a list' };
  const { parameters } = facts;
  const deciding = decidingPlace(facts);
  if (values.length > parameters.length)
    return { reason: `it takes at most ${parameters.length} value(s), ${values.length} were given` };
  const stored: (number | string)[] = [];
  for (const [index, value] of arranged(values, deciding).entries()) {
    const parameter = parameters[index] as FilterParameter;
    const checked = parameter.type === 'text' ? checkText(value, parameter) : checkNumber(value, parameter);
    if ('reason' in checked) return checked;
    stored.push(checked.value);
  }
  return { values: stored, isActive: isActive(stored[deciding]) };
}

/** Returns the index of the value that decides whether the filter acts: its text, or else its first value. */
function decidingPlace({ parameters }: FilterFacts): number {
  const text = parameters.findIndex(({ type }) => type === 'text');
  return Math.max(text, 0);
}

function isActive(deciding: number | string | undefined): boolean {
  return deciding !== undefined && deciding !== 0 && deciding !== '';
}

/** Accepts the order of versions before 0.2, in which the text of `jitter` was its first value and could be its only one. */
function arranged(values: readonly unknown[], deciding: number): readonly unknown[] {
  const [first, ...others] = values;
  if (deciding === 0 || typeof first !== 'string' || numberForm.test(first)) return values;
  return others.length === 0 ? [0, first] : [...others, first];
}

function checkText(value: unknown, { name, choices }: FilterParameter): Checked<{ value: string }> {
  if (typeof value !== 'string') return { reason: `${name} must be text` };
  if (value.length > 4096) return { reason: `${name} is longer than 4096 characters` };
  const text = value.trim();
  if (!choices || text === '') return { value: text };
  const choice = text.toLowerCase();
  return choices.includes(choice) ? { value: choice } : { reason: `${name}: there is no "${text.slice(0, 100)}"` };
}

/** Numbers as text, which GNS3's clients send too. */
const numberForm = /^\s*-?\d{1,12}(\.\d{1,12})?\s*$/;

function checkNumber(value: unknown, parameter: FilterParameter): Checked<{ value: number }> {
  const number = typeof value === 'string' && numberForm.test(value) ? Number(value) : value;
  const { minimum = 0, maximum = 0, name, unit, fractions } = parameter;
  if (typeof number !== 'number' || !(fractions ? Number.isFinite(number) : Number.isInteger(number)))
    return { reason: `${name} must be a ${fractions ? '' : 'whole '}number` };
  if (number < minimum || number > maximum)
    return { reason: `${name} must lie between ${minimum} and ${maximum}${unit ? ` ${unit}` : ''}, not ${number}` };
  // Adding 0 turns -0 into 0, whose text is "0".
  return { value: number + 0 };
}
