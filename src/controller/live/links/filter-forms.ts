/**
 * Filters as the forms of GNS3's clients show and send them. The desktop's dialog fills every field of a filter from the filter's
 * first value, and reads whole numbers into fields of numbers and texts into fields of texts only. It is therefore offered each
 * parameter as a filter of its own, is shown rounded numbers, and a value that it sends back unchanged keeps its exact value.
 */
import { type FilterOffer, type Filters, findFilter } from '../../../schema/filter.ts';
import { filterTable } from '../../../schema/filter-table.ts';
import type { LinkObject } from './link.ts';

type GivenFilters = Readonly<Record<string, unknown>>;
type FieldValue = number | string;

/** A parameter of a filter. */
interface FormField {
  /** Key of the desktop's filter: the filter's own for the parameter that decides whether it acts. */
  readonly name: string;
  /** Key of the filter. */
  readonly key: string;
  readonly place: number;
  readonly isText: boolean;
}

function fieldsOf(key: string): readonly FormField[] {
  const { parameters = [], deciding } = findFilter(key) ?? {};
  return parameters.map(({ type }, place) => ({
    name: place === deciding ? key : `${key}/${place + 1}`,
    key,
    place,
    isText: type === 'text',
  }));
}

function findField(name: string): FormField | undefined {
  const [key = ''] = name.split('/');
  return fieldsOf(key).find((field) => field.name === name);
}

/** Lists the filters for the desktop's dialog: one for each parameter, and a latency of one direction as the delay that it is. */
export function desktopOffers(offers: readonly FilterOffer[]): FilterOffer[] {
  return offers.map(withoutAlias).flatMap((offer) => {
    const fields = fieldsOf(offer.type);
    const ordered = fields.toSorted((one, other) => Number(one.name !== offer.type) - Number(other.name !== offer.type));
    return ordered.flatMap(({ name, place }) => {
      const parameter = offer.parameters[place];
      if (!parameter) return [];
      const title = fields.length === 1 ? offer.name : `${offer.name}: ${parameter.name}`;
      return [{ ...offer, type: name, name: title, parameters: [parameter] }];
    });
  });
}

function withoutAlias(offer: FilterOffer): FilterOffer {
  const type = offer.type.replace('latency', 'delay');
  const { parameters } = (type !== offer.type && findFilter(type)) || offer;
  return { ...offer, type, parameters: [...parameters], name: offer.name.replace(/^Latency/, 'Delay') };
}

/** Returns the filters as the desktop is shown them: one whole number or text each. Filters without facts are left out. */
export function desktopFilters(filters: Filters): Filters {
  const shown: Record<string, readonly FieldValue[]> = {};
  for (const [key, values] of Object.entries(filters)) {
    // The dialog has no form of `latency`: it is a delay without jitter.
    for (const { name, place } of fieldsOf(key.replace('latency', 'delay'))) {
      const value = values[place];
      if (value !== undefined) shown[name] = [typeof value === 'number' ? wholeNumber(value) : value];
    }
  }
  return shown as Filters;
}

/** Rounds a value. One that acts is not shown as 0, by which a form switches a filter off. */
function wholeNumber(value: number): number {
  return Math.round(value) || Math.sign(value);
}

/** Returns the link as the desktop is shown it. */
export function desktopLink(link: LinkObject): LinkObject {
  return Object.keys(link.filters).length === 0 ? link : { ...link, filters: desktopFilters(link.filters) };
}

/** Returns the filters that a request of the desktop stands for, with the exact values of fields that it sends back unchanged. */
export function ofDesktop(given: GivenFilters, stored: Filters): GivenFilters {
  const shown: GivenFilters = desktopFilters(stored);
  const result = new Map<string, unknown>();
  const forms = new Map<string, unknown[]>();
  const changed = new Set<string>();
  for (const [name, values] of Object.entries(given)) {
    const field = findField(name);
    if (!field || !Array.isArray(values) || values.length > 1) {
      // The values of a whole filter, or what `checkFilters` refuses.
      result.set(name, values);
      changed.add(name);
      continue;
    }
    const nothing = field.isText ? '' : 0;
    const [before = nothing] = (shown[name] ?? []) as readonly FieldValue[];
    const [value = nothing] = values as readonly unknown[];
    const isUnchanged = field.isText ? value === before : numberIn(value) === before;
    if (!isUnchanged) changed.add(field.key);
    const known = storedValues(field.key, stored);
    const form = forms.get(field.key) ?? known.slice();
    forms.set(field.key, form);
    if (!isUnchanged || known[field.place] !== undefined) form[field.place] = isUnchanged ? known[field.place] : value;
  }
  for (const [key, values] of forms) {
    if (result.has(key)) continue;
    const latency = key.replace('delay', 'latency');
    if (latency !== key && !changed.has(key) && Object.hasOwn(stored, latency))
      result.set(latency, stored[latency as keyof Filters]);
    else result.set(key, filled(key, values));
  }
  return Object.fromEntries(result);
}

/** Returns the number that a client's value is or has as its text; NaN: it has none. */
function numberIn(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
}

function storedValues(key: string, stored: Filters): readonly FieldValue[] {
  return stored[key as keyof Filters] ?? stored[key.replace('delay', 'latency') as keyof Filters] ?? [];
}

/** Fills the gaps before a parameter that was given. */
function filled(key: string, values: readonly unknown[]): unknown[] {
  const fields = fieldsOf(key);
  return Array.from(values, (value, place) => (value === undefined ? (fields[place]?.isText ? '' : 0) : value));
}

/** Filters of which every form of GNS3's clients sends all. */
const formFilters = filterTable.filter(({ isGns3, alias }) => isGns3 && !alias).map(({ type }) => type);

/**
 * Adds the stored filters that a form of GNS3's clients did not show to those that it sends. A request that does not name all filters
 * of GNS3 comes from no such form, and replaces all filters.
 */
export function withUnseen(given: GivenFilters, stored: Filters): GivenFilters {
  if (!formFilters.every((type) => Object.hasOwn(given, type))) return given;
  const unseen = Object.entries(stored).filter(([key]) => {
    const delay = given[key.replace('latency', 'delay')];
    const isReplaced = Array.isArray(delay) && numberIn(delay[0] ?? 0) !== 0;
    return !Object.hasOwn(given, key) && !isReplaced;
  });
  return { ...given, ...Object.fromEntries(unseen) };
}
