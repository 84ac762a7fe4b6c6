/** Filters as the controller's and the compute's API take them: checked here, and again only by the fabric. */
import { type Filters, knownFilters, normaliseFilters } from '../schema/filter.ts';
import { fault } from './faults.ts';

/** In stored form. @throws `filter_invalid` */
export function checkFilters(given: Readonly<Record<string, unknown>>): Filters {
  const checked = normaliseFilters(given);
  if (checked.ok) return checked.filters;
  throw fault('filter_invalid', { name: checked.name.slice(0, 100), reason: checked.reason, known: knownFilters });
}
