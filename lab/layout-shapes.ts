/** Places the nodes of a lab in a shape: a chain, a tree, a circle. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Neighbours of each node by name, each once. */
export type Neighbours = ReadonlyMap<string, readonly string[]>;

/** Distances in pixels: between nodes side by side, with room for names; between core neighbours; from one row to the next. */
const leafSpacing = 110;
export const coreSpacing = 200;
const rowHeight = 140;

/** Places leaves in rows below their neighbour, twice as wide as high; `x`: of the first column. */
function rows(leaves: readonly string[], x: number, y: number): Map<string, Point> {
  const columns = columnsOf(leaves);
  const at = (index: number) => ({ x: x + (index % columns) * leafSpacing, y: y + Math.floor(index / columns) * rowHeight });
  return new Map(leaves.map((name, index) => [name, at(index)]));
}

const columnsOf = ({ length }: readonly string[]): number => Math.min(length, Math.max(6, Math.ceil(Math.sqrt(2 * length))));

/** Places a chain from left to right, with the leaves of each node below it. */
export function line(part: readonly string[], neighbours: Neighbours, leaves: Neighbours): Map<string, Point> {
  const points = new Map<string, Point>();
  const first = part.find((name) => (neighbours.get(name)?.length ?? 0) < 2) ?? '';
  let [before, right] = [-coreSpacing, -leafSpacing];
  for (const name of walk(first, neighbours)) {
    const own = leaves.get(name) ?? [];
    const half = (Math.max(0, columnsOf(own) - 1) * leafSpacing) / 2;
    const x = Math.max(right + leafSpacing + half, before + coreSpacing);
    points.set(name, { x, y: 0 });
    for (const [leaf, point] of rows(own, x - half, rowHeight)) points.set(leaf, point);
    before = x;
    if (own.length > 0) right = x + half;
  }
  return points;
}

/** Lists nodes breadth first, from one end of a chain or the root of a tree. */
function walk(first: string, neighbours: Neighbours): string[] {
  const order = [first];
  const seen = new Set(order);
  for (const name of order) {
    for (const next of neighbours.get(name) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      order.push(next);
    }
  }
  return order;
}

/** Places a tree downwards from the middle of its longest path; a node stands above the middle of its children. */
export function tree(part: readonly string[], neighbours: Neighbours, leaves: Neighbours): Map<string, Point> {
  const points = new Map<string, Point>();
  let column = 0;
  // The depth-first search uses a list, because a chain of thousands would exhaust the stack.
  const order: { name: string; depth: number; left: number; right: number; children: string[] }[] = [];
  const open = [{ name: middleOf(part, neighbours), parent: '', depth: 0 }];
  for (let one = open.pop(); one; one = open.pop()) {
    const { name, parent, depth } = one;
    const own = leaves.get(name) ?? [];
    const children = (neighbours.get(name) ?? []).filter((next) => next !== parent);
    for (const [leaf, point] of rows(own, column, (depth + 1) * rowHeight)) points.set(leaf, point);
    const columns = Math.max(columnsOf(own), children.length === 0 ? 1 : 0);
    order.push({ name, depth, left: column, right: column + Math.max(0, columns - 1) * leafSpacing, children });
    column += columns * leafSpacing;
    open.push(...children.toReversed().map((child) => ({ name: child, parent: name, depth: depth + 1 })));
  }
  for (const { name, depth, left, right, children } of order.toReversed()) {
    const last = points.get(children.at(-1) ?? '')?.x ?? right;
    const first = leaves.has(name) ? left : (points.get(children[0] ?? '')?.x ?? left);
    points.set(name, { x: Math.round((first + last) / 2), y: depth * rowHeight });
  }
  return points;
}

/** Returns the middle of the longest path. */
function middleOf(part: readonly string[], neighbours: Neighbours): string {
  const end = walk(part[0] ?? '', neighbours).at(-1) ?? '';
  const before = new Map<string, string>();
  const order = walk(end, neighbours);
  for (const name of order) {
    for (const next of neighbours.get(name) ?? []) if (before.get(name) !== next) before.set(next, name);
  }
  const path = [order.at(-1) ?? ''];
  for (const name of path) {
    const next = before.get(name);
    if (next !== undefined) path.push(next);
  }
  return path[Math.floor((path.length - 1) / 2)] ?? '';
}

/** Places a loop in the order of the file; leaves stand on the outer side of their neighbour. */
export function circle(core: readonly string[], leaves: Neighbours): Map<string, Point> {
  const points = new Map<string, Point>();
  const radius = Math.max(coreSpacing / Math.sqrt(3), (core.length * coreSpacing) / (2 * Math.PI));
  for (const [index, name] of core.entries()) {
    const outward = -Math.PI / 2 + (2 * Math.PI * index) / core.length;
    const centre = around({ x: 0, y: 0 }, radius, outward);
    points.set(name, centre);
    const own = leaves.get(name) ?? [];
    const width = Math.min(Math.PI, 0.8 * (own.length - 1));
    const distance = Math.max(rowHeight, (own.length * leafSpacing) / Math.PI);
    for (const [at, leaf] of own.entries()) {
      const share = own.length === 1 ? 0.5 : at / (own.length - 1);
      points.set(leaf, around(centre, distance, outward - width / 2 + width * share));
    }
  }
  return points;
}

function around({ x, y }: Point, radius: number, angle: number): Point {
  return { x: Math.round(x + radius * Math.cos(angle)), y: Math.round(y + radius * Math.sin(angle)) };
}
