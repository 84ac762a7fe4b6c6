/**
 * Positions for nodes without one: nodes with several links stand on a circle in the order of the file, those with one link around their
 * neighbour. The same file always gives the same picture.
 */
import type { Lab } from './file/lab.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Pixels. */
const spacing = 150;
const leafDistance = 130;

/** Of all nodes of the lab that have no position in it. `present`: nodes of the project, beside which new ones are placed. */
export function layOut(lab: Lab, present: readonly (Point & { readonly name: string })[]): ReadonlyMap<string, Point> {
  const neighbours = neighboursOf(lab);
  const isPlaced = ({ fields }: Lab['nodes'][number]) => typeof fields.x === 'number' || typeof fields.y === 'number';
  const known = new Set(present.map(({ name }) => name));
  const free = lab.nodes.filter((node) => !isPlaced(node) && !known.has(node.name)).map(({ name }) => name);
  const hubs = new Set(free.filter((name) => (neighbours.get(name)?.size ?? 0) !== 1));
  // A pair of nodes that have only each other.
  const leaves = free.filter((name) => !hubs.has(name) && hubs.has([...(neighbours.get(name) ?? [])][0] ?? ''));
  const isLeaf = new Set(leaves);
  const ring = free.filter((name) => !isLeaf.has(name));
  const origin = originBeside(present, lab);
  const points = new Map<string, Point>();
  const radius = ring.length < 2 ? 0 : Math.max(spacing, (ring.length * spacing) / (2 * Math.PI));
  for (const [index, name] of ring.entries()) {
    points.set(name, around(origin, radius, -Math.PI / 2 + (2 * Math.PI * index) / ring.length));
  }
  fanOut(leaves, neighbours, { points, origin });
  return points;
}

/** Leaves stand on the outer side of their neighbour. */
function fanOut(
  leaves: readonly string[],
  neighbours: ReadonlyMap<string, ReadonlySet<string>>,
  { points, origin }: { readonly points: Map<string, Point>; readonly origin: Point },
): void {
  const byHub = Map.groupBy(leaves, (name) => [...(neighbours.get(name) ?? [])][0] ?? '');
  for (const [hub, group] of byHub) {
    const centre = points.get(hub) ?? origin;
    const isCentre = centre.x === origin.x && centre.y === origin.y;
    const outward = isCentre ? -Math.PI / 2 : Math.atan2(centre.y - origin.y, centre.x - origin.x);
    const width = isCentre ? 2 * Math.PI * (1 - 1 / group.length) : Math.min(Math.PI, 0.6 * (group.length - 1));
    const distance = Math.max(leafDistance, (group.length * leafDistance) / (isCentre ? 6 : 3));
    group.forEach((name, index) => {
      const share = group.length === 1 ? 0.5 : index / (group.length - 1);
      points.set(name, around(centre, distance, outward - width / 2 + width * share));
    });
  }
}

function neighboursOf({ links }: Lab): ReadonlyMap<string, ReadonlySet<string>> {
  const neighbours = new Map<string, Set<string>>();
  const join = (one: string, other: string) => neighbours.set(one, (neighbours.get(one) ?? new Set()).add(other));
  for (const { ends } of links) {
    join(ends[0].node, ends[1].node);
    join(ends[1].node, ends[0].node);
  }
  return neighbours;
}

/** The middle of the picture; right of what has a place already. */
function originBeside(present: readonly Point[], lab: Lab): Point {
  const placed = lab.nodes.flatMap(({ fields: { x, y } }) => (typeof x === 'number' && typeof y === 'number' ? [{ x, y }] : []));
  const all = [...present, ...placed];
  if (all.length === 0) return { x: 0, y: 0 };
  const right = all.reduce((most, { x }) => Math.max(most, x), -Infinity);
  const middle = all.reduce((sum, { y }) => sum + y, 0) / all.length;
  return { x: Math.round(right + 2 * spacing), y: Math.round(middle) };
}

function around({ x, y }: Point, radius: number, angle: number): Point {
  return { x: Math.round(x + radius * Math.cos(angle)), y: Math.round(y + radius * Math.sin(angle)) };
}
