/** Expands the links of a lab file: short forms, ranges, filters. */

import { readFilters } from './filter-values.ts';
import type { LabEnd, LabLink } from './lab.ts';
import { LabError, type Place, suggestion } from './lab-error.ts';
import type { LabFiles } from './lab-files.ts';
import type { End, LabLinkSpec } from './lab-schema.ts';
import { readSchedule } from './link-schedule.ts';
import { expandName } from './ranges.ts';
import type { Places, Tree } from './read-yaml.ts';

/** Most links of one lab. */
const mostLinks = 20_000;

interface LinksContext {
  /** Names of the nodes. */
  readonly names: ReadonlySet<string>;
  readonly places: Places;
  /** Files that schedules name, and the path of the lab file that has these links. */
  readonly files: LabFiles;
  readonly file: string;
}

/** Expands the links. @throws LabError */
export async function expandLinks(specs: readonly LabLinkSpec[], context: LinksContext): Promise<LabLink[]> {
  const links: LabLink[] = [];
  for (const [index, spec] of specs.entries()) {
    const place = context.places.of(specs, index);
    links.push(...(await linksOf(spec, context, place)));
    if (links.length > mostLinks) throw new LabError(`a lab has at most ${mostLinks} links`, place);
  }
  return links;
}

async function linksOf(spec: LabLinkSpec, context: LinksContext, place: Place | undefined): Promise<LabLink[]> {
  const { ends, filters = {}, suspend = false, mirror, schedule: given, style } = Array.isArray(spec) ? { ends: spec } : spec;
  const { names } = context;
  const schedule = given && (await readSchedule(given, { ...context, place }));
  const [one = [], other = []] = ends.map((end) => endsOf(end, names, place));
  const mirrors = mirror === undefined ? [] : endsOf(mirror, names, place);
  const common = { filters: readFilters(filters as Record<string, Tree>, place), suspend, schedule, style, place };
  const pairs = pairsOf(one, other, place);
  if (mirrors.length > 0 && mirrors.length !== pairs.length) {
    throw new LabError(`${pairs.length} links cannot be mirrored to ${mirrors.length} ports: each needs one of its own`, place);
  }
  return pairs.map((pair, index) => {
    if (pair[0].node === pair[1].node) throw new LabError(`a link joins two nodes, not ${pair[0].node} with itself`, place);
    return { ...common, ends: pair, mirror: mirrors[index] };
  });
}

/**
 * Pairs the ends of ranges. A range on one side is joined to the single node on the other side; two ranges of the same length are
 * joined in pairs.
 */
function pairsOf(one: readonly LabEnd[], other: readonly LabEnd[], place: Place | undefined): [LabEnd, LabEnd][] {
  if (one.length !== other.length && one.length !== 1 && other.length !== 1) {
    throw new LabError(
      `the two ranges have ${one.length} and ${other.length} nodes: they must have equally many, or one of them a single node`,
      place,
    );
  }
  const count = Math.max(one.length, other.length);
  return Array.from({ length: count }, (_, index) => [
    one[one.length === 1 ? 0 : index] as LabEnd,
    other[other.length === 1 ? 0 : index] as LabEnd,
  ]);
}

function endsOf(end: End, names: ReadonlySet<string>, place: Place | undefined): LabEnd[] {
  if (typeof end !== 'string') {
    checkNode(end.node, names, place);
    return [{ node: end.node, port: end.port, label: end.label }];
  }
  // A name may hold a colon; ports rarely do.
  const colon = names.has(end) ? -1 : end.indexOf(':');
  const port = colon === -1 ? undefined : end.slice(colon + 1).trim();
  if (port === '')
    throw new LabError(`"${end.slice(0, 100)}" names no port. Write NODE:PORT, or NODE for the first free port`, place);
  const base = (colon === -1 ? end : end.slice(0, colon)).trim();
  return (names.has(base) ? [{ name: base }] : expandName(base, place)).map(({ name }) => {
    checkNode(name, names, place);
    return { node: name, port, label: undefined };
  });
}

function checkNode(name: string, names: ReadonlySet<string>, place: Place | undefined): void {
  if (!names.has(name)) throw new LabError(`there is no node "${name.slice(0, 100)}"${suggestion(name, [...names])}`, place);
}
