/** Bends links of the same two ends aside, so that none lies on another. An end is a node, or the collapsed group that hides it. */
import type { Link } from '../../src/schema/link.ts';

/** Distance between neighbours; many links of a group share `widestPx`. */
const spreadPx = 26;
const widestPx = 260;

/** Bends in pixels by link, as seen from the end with the smaller id; straight links are left out. */
export function linkBulges(
  links: readonly Link[],
  hidden: ReadonlyMap<string, { readonly id: string }>,
): ReadonlyMap<string, number> {
  const bundles = new Map<string, string[]>();
  for (const { link_id, nodes } of links) {
    const ends = nodes.map(({ node_id }) => hidden.get(node_id)?.id ?? node_id);
    const key = ends.sort().join(' ');
    const bundle = bundles.get(key);
    if (bundle) bundle.push(link_id);
    else bundles.set(key, [link_id]);
  }
  const bulges = new Map<string, number>();
  for (const bundle of bundles.values()) {
    if (bundle.length === 1) continue;
    const step = Math.min(spreadPx, widestPx / bundle.length);
    for (const [place, id] of bundle.entries()) bulges.set(id, (place - (bundle.length - 1) / 2) * step);
  }
  return bulges;
}
