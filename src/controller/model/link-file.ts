/**
 * A link as it stands in the project file. Other programs of this format keep filters that they do not know, but then refuse to start
 * the link's nodes, and refuse a file with other fields; what they do not know in `link_style` they leave alone. So in the file all
 * that is ours is there, and nowhere else.
 */

import type { Filters } from '../../schema/filter.ts';
import { filterTable } from '../../schema/filter-table.ts';
import type { LinkInput } from '../../schema/link.ts';
import { checkSchedule } from '../../schema/schedule-rules.ts';
import { canonical } from './canonical.ts';
import type { LinkEntry, LinkExtras } from './topology.ts';

const filtersKey = 'patchbay_filters';
const scheduleKey = 'patchbay_schedule';
const gns3Filters = new Set<string>(filterTable.filter(({ isGns3 }) => isGns3).map(({ type }) => type));

export function linkToFile({ schedule, ...link }: LinkEntry): LinkEntry {
  const all = Object.entries(link.filters);
  const own = all.filter(([key]) => !gns3Filters.has(key));
  if (own.length === 0 && !schedule) return link;
  const filters = Object.fromEntries(all.filter(([key]) => gns3Filters.has(key))) as Filters;
  const link_style = {
    ...link.link_style,
    ...(own.length > 0 && { [filtersKey]: Object.fromEntries(own) }),
    ...(schedule && { [scheduleKey]: schedule }),
  };
  return canonical<LinkEntry>({ ...link, filters, link_style });
}

/** What is not as it is written here stays in the style. */
export function linkFromFile(link: LinkInput): LinkInput & LinkExtras {
  const { [filtersKey]: own, [scheduleKey]: schedule, ...style } = link.link_style ?? {};
  const isFilters = typeof own === 'object' && own !== null && !Array.isArray(own);
  const checked = checkSchedule(schedule);
  if (!isFilters && !checked.ok) return link;
  const link_style = {
    ...style,
    ...(own !== undefined && !isFilters && { [filtersKey]: own }),
    ...(schedule !== undefined && !checked.ok && { [scheduleKey]: schedule }),
  };
  return {
    ...link,
    filters: { ...link.filters, ...(isFilters && own) },
    link_style,
    ...(checked.ok && { schedule: checked.value }),
  };
}
