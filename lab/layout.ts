/**
 * Places nodes without a position. Nodes with one link stand at their neighbour. The other nodes, the core, form a line if they are
 * a chain, a tree from their middle, or a circle in the order of the file if they have a loop. The same file always gives the same
 * picture.
 */
import type { Lab } from './file/lab.ts';
import { circle, coreSpacing, line, type Neighbours, type Point, tree } from './layout-shapes.ts';

/** Returns positions of all nodes of the lab without one. `present`: nodes of the project, beside which new ones are placed. */
export function layOut(lab: Lab, present: readonly (Point & { readonly name: string })[]): ReadonlyMap<string, Point> {
  const isPlaced = ({ fields }: Lab['nodes'][number]) => typeof fields.x === 'number' || typeof fields.y === 'number';
  const known = new Set(present.map(({ name }) => name));
  const free = lab.nodes.filter((node) => !isPlaced(node) && !known.has(node.name)).map(({ name }) => name);
  const all = neighboursOf(lab, new Set(lab.nodes.map(({ name }) => name)));
  const many = new Set(free.filter((name) => all.get(name)?.length !== 1));
  // Two nodes that have only each other are not leaves.
  const isLeaf = new Set(free.filter((name) => !many.has(name) && many.has(all.get(name)?.[0] ?? '')));
  const core = free.filter((name) => !isLeaf.has(name));
  const leaves = Map.groupBy(isLeaf, (name) => all.get(name)?.[0] ?? '');
  const points = draw(core, neighboursOf(lab, new Set(core)), leaves);
  const others = [
    ...present,
    ...lab.nodes.flatMap(({ fields: { x, y } }) => (typeof x === 'number' && typeof y === 'number' ? [{ x, y }] : [])),
  ];
  return moved(points, others);
}

function draw(core: readonly string[], neighbours: Neighbours, leaves: Neighbours): ReadonlyMap<string, Point> {
  const parts = partsOf(core, neighbours);
  const linkCount = core.reduce((sum, name) => sum + (neighbours.get(name)?.length ?? 0), 0) / 2;
  if (linkCount > core.length - parts.length) return circle(core, leaves);
  return shelves(
    parts.map((part) => {
      const isChain = part.every((name) => (neighbours.get(name)?.length ?? 0) <= 2);
      return isChain ? line(part, neighbours, leaves) : tree(part, neighbours, leaves);
    }),
  );
}

/** Places parts from left to right, and in rows if there are many. */
function shelves(parts: readonly ReadonlyMap<string, Point>[]): ReadonlyMap<string, Point> {
  const points = new Map<string, Point>();
  const sizes = parts.map((part) => boundsOf([...part.values()]));
  const area = sizes.reduce(
    (sum, { left, right, top, bottom }) => sum + (right - left + coreSpacing) * (bottom - top + coreSpacing),
    0,
  );
  const width = Math.max(1500, 1.5 * Math.sqrt(area));
  let [x, y, below] = [0, 0, 0];
  for (const [index, part] of parts.entries()) {
    const { left, right, top, bottom } = sizes[index] ?? boundsOf([]);
    if (x > 0 && x + right - left > width) [x, y] = [0, below];
    for (const [name, point] of part) points.set(name, { x: point.x - left + x, y: point.y - top + y });
    x += right - left + coreSpacing;
    below = Math.max(below, y + bottom - top + coreSpacing);
  }
  return points;
}

/** Returns the connected parts of the core, in the order of the file. */
function partsOf(core: readonly string[], neighbours: Neighbours): string[][] {
  const seen = new Set<string>();
  return core.flatMap((first) => {
    if (seen.has(first)) return [];
    const part = [first];
    seen.add(first);
    for (const name of part) {
      for (const next of neighbours.get(name) ?? []) {
        if (seen.has(next)) continue;
        seen.add(next);
        part.push(next);
      }
    }
    return [part];
  });
}

/** Returns the neighbours of nodes, each once and without the node itself. `names`: other nodes are left out. */
function neighboursOf({ links }: Lab, names: ReadonlySet<string>): Neighbours {
  const neighbours = new Map<string, Set<string>>();
  const join = (one: string, other: string) => neighbours.set(one, (neighbours.get(one) ?? new Set()).add(other));
  for (const { ends } of links) {
    const [one, other] = [ends[0].node, ends[1].node];
    if (one === other || !names.has(one) || !names.has(other)) continue;
    join(one, other);
    join(other, one);
  }
  return new Map(Array.from(neighbours, ([name, set]) => [name, [...set]]));
}

/** Moves the picture's middle to 0, 0, or the picture to the right of existing nodes. */
function moved(points: ReadonlyMap<string, Point>, others: readonly Point[]): ReadonlyMap<string, Point> {
  if (points.size === 0) return points;
  const own = boundsOf([...points.values()]);
  const rest = others.length > 0 ? boundsOf(others) : undefined;
  const byX = Math.round(rest ? rest.right + coreSpacing - own.left : -(own.left + own.right) / 2);
  const byY = Math.round((rest ? (rest.top + rest.bottom) / 2 : 0) - (own.top + own.bottom) / 2);
  return new Map(Array.from(points, ([name, { x, y }]) => [name, { x: x + byX, y: y + byY }]));
}

function boundsOf(points: readonly Point[]) {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const least = (values: readonly number[]) => values.reduce((one, other) => Math.min(one, other), Infinity);
  const most = (values: readonly number[]) => values.reduce((one, other) => Math.max(one, other), -Infinity);
  return { left: least(xs), right: most(xs), top: least(ys), bottom: most(ys) };
}
