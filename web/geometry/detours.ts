/** Bends links around nodes that are not theirs: a link through a foreign node reads as a link to it. Pure, and the same everywhere. */
import { type Curve, crosses, curveBetween, pointsOf } from './curve.ts';
import { type Box, centreOf } from './geometry.ts';
import { NearGrid } from './near-grid.ts';

export interface DetourLink {
  readonly id: string;
  /** Nodes or collapsed groups at its ends. */
  readonly nodes: readonly [string, string];
  /** Bend that keeps it apart from links between the same nodes, as seen from the end with the smaller id. */
  readonly bulge: number;
}

/** Distance that a link keeps from foreign nodes. */
const gapPx = 5;
/** Bends that are tried, the smallest first. */
const bends = [24, 34, 44, 56, 68, 82, 98, 116, 140].flatMap((bend) => [bend, -bend]);
/** A bend is at most this part of the link's length: a link between neighbours does not swing around. */
const mostOfLength = 0.32;

/** Longer links stay straight: a lab may have nodes anywhere. */
const longestPx = 10_000;

interface Obstacle {
  readonly id: string;
  readonly box: Box;
}

/** Bends by link, where one keeps the link clear of all foreign nodes; others stay as they are. `nodes`: boxes of their symbols. */
export function detours(nodes: ReadonlyMap<string, Box>, links: readonly DetourLink[]): ReadonlyMap<string, number> {
  const grid = new NearGrid<Obstacle>();
  for (const [id, { x, y, width, height }] of nodes) {
    const box = { x: x - gapPx, y: y - gapPx, width: width + 2 * gapPx, height: height + 2 * gapPx };
    grid.addBox({ id, box }, box);
  }
  const found = new Map<string, number>();
  for (const link of links) {
    const bend = detourOf(grid, nodes, link);
    if (bend !== 0) found.set(link.id, bend);
  }
  return found;
}

function detourOf(grid: NearGrid<Obstacle>, nodes: ReadonlyMap<string, Box>, { nodes: ends, bulge }: DetourLink): number {
  const [one, other] = ends.map((id) => nodes.get(id));
  if (!one || !other || one === other) return 0;
  const [from, to] = [centreOf(one), centreOf(other)];
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  if (length > longestPx) return 0;
  const most = length * mostOfLength;
  const isClear = (bend: number) =>
    !isBlocked(grid, curveBetween(from, to, ends[0] < ends[1] ? bulge + bend : -bulge - bend), ends);
  if (isClear(0)) return 0;
  return bends.find((bend) => Math.abs(bend) <= most && isClear(bend)) ?? 0;
}

function isBlocked(grid: NearGrid<Obstacle>, curve: Curve, ends: readonly string[]): boolean {
  const points = pointsOf(curve);
  return points.some((to, place) => {
    const from = points[place - 1];
    return from !== undefined && grid.someOnLine(from, to, ({ id, box }) => !ends.includes(id) && crosses(box, from, to));
  });
}
