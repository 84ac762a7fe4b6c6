/**
 * A link as it stands in the project file. Other programs of this format keep filters that they do not know, but then refuse to start
 * the link's nodes; what they do not know in `link_style` they leave alone. So in the file those filters are there, and nowhere else.
 */

import type { Filters } from '../../schema/filter.ts';
import { filterTable } from '../../schema/filter-table.ts';
import type { LinkInput } from '../../schema/link.ts';
import { canonical } from './canonical.ts';
import type { LinkEntry } from './topology.ts';

const styleKey = 'patchbay_filters';
const gns3Filters = new Set<string>(filterTable.filter(({ isGns3 }) => isGns3).map(({ type }) => type));

export function linkToFile(link: LinkEntry): LinkEntry {
  const all = Object.entries(link.filters);
  const own = all.filter(([key]) => !gns3Filters.has(key));
  if (own.length === 0) return link;
  const filters = Object.fromEntries(all.filter(([key]) => gns3Filters.has(key))) as Filters;
  return canonical<LinkEntry>({ ...link, filters, link_style: { ...link.link_style, [styleKey]: Object.fromEntries(own) } });
}

export function linkFromFile(link: LinkInput): LinkInput {
  const { [styleKey]: own, ...style } = link.link_style ?? {};
  if (typeof own !== 'object' || own === null || Array.isArray(own)) return link;
  return { ...link, filters: { ...link.filters, ...own }, link_style: style };
}
