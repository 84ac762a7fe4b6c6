/**
 * A link as it stands in the project file. GNS3 keeps filters that it does not know, but then refuses to start the link's nodes,
 * and it refuses a file with other fields; it ignores unknown keys of `link_style`. So in the file all that is ours is there, and
 * nowhere else.
 */

import type { Filters } from '../../schema/filter.ts';
import { filterTable } from '../../schema/filter-table.ts';
import type { LinkInput, LinkMirror } from '../../schema/link.ts';
import { checkSchedule } from '../../schema/schedule-rules.ts';
import { canonical } from './canonical.ts';
import type { LinkEntry, LinkExtras } from './topology.ts';

const filtersKey = 'patchbay_filters';
const scheduleKey = 'patchbay_schedule';
const mirrorKey = 'patchbay_mirror';
const gns3Filters = new Set<string>(filterTable.filter(({ isGns3 }) => isGns3).map(({ type }) => type));

export function linkToFile({ schedule, mirror, ...link }: LinkEntry): LinkEntry {
  const all = Object.entries(link.filters);
  const own = all.filter(([key]) => !gns3Filters.has(key));
  if (own.length === 0 && !schedule && !mirror) return link;
  const filters = Object.fromEntries(all.filter(([key]) => gns3Filters.has(key))) as Filters;
  const link_style = {
    ...link.link_style,
    ...(own.length > 0 && { [filtersKey]: Object.fromEntries(own) }),
    ...(schedule && { [scheduleKey]: schedule }),
    ...(mirror && { [mirrorKey]: mirror }),
  };
  return canonical<LinkEntry>({ ...link, filters, link_style });
}

/** Reads Patchbay's own fields from the link's style. A value that is not valid stays in the style unchanged. */
export function linkFromFile(link: LinkInput): LinkInput & LinkExtras {
  const { [filtersKey]: own, [scheduleKey]: schedule, [mirrorKey]: mirror, ...style } = link.link_style ?? {};
  const isFilters = typeof own === 'object' && own !== null && !Array.isArray(own);
  const checked = checkSchedule(schedule);
  const isMirror = isLinkMirror(mirror);
  if (!isFilters && !checked.ok && !isMirror) return link;
  const link_style = {
    ...style,
    ...(own !== undefined && !isFilters && { [filtersKey]: own }),
    ...(schedule !== undefined && !checked.ok && { [scheduleKey]: schedule }),
    ...(mirror !== undefined && !isMirror && { [mirrorKey]: mirror }),
  };
  return {
    ...link,
    filters: { ...link.filters, ...(isFilters && own) },
    link_style,
    ...(checked.ok && { schedule: checked.value }),
    ...(isMirror && { mirror }),
  };
}

function isLinkMirror(value: unknown): value is LinkMirror {
  if (typeof value !== 'object' || value === null) return false;
  const { node_id, adapter_number, port_number, ...more } = value as Record<string, unknown>;
  const isCount = (number: unknown) => Number.isSafeInteger(number) && (number as number) >= 0;
  return typeof node_id === 'string' && isCount(adapter_number) && isCount(port_number) && Object.keys(more).length === 0;
}
