/** The path of a link between its two nodes, and the positions of its labels and badge. */
import type { Node } from '../../src/schema/node.ts';
import type { Box, Point } from '../geometry/geometry.ts';
import { centreOf, nodeBox, reach } from '../geometry/geometry.ts';
import type { CollapsedGroup } from '../state/groups.ts';

export interface LinkPath {
  readonly d: string;
  readonly middle: Point;
  /** Unit normal of the line: points to the right, seen from the first node to the second. */
  readonly aside: Point;
  /** Just outside the nodes. */
  readonly ends: readonly [Point, Point];
}

/** A node, and the box of its symbol; or the collapsed group that hides the node. */
export interface LinkEnd {
  /** Id of the node or group. */
  readonly id: string;
  readonly node: Node;
  readonly symbol: Pick<Box, 'width' | 'height'>;
}

const labelDistancePx = 16;

/** `group`: the collapsed one that hides the node. */
export function linkEnd(node: Node, symbol: LinkEnd['symbol'], group: CollapsedGroup | undefined): LinkEnd {
  return group ? { id: group.id, node: { ...node, ...group.box }, symbol: group.box } : { id: node.node_id, node, symbol };
}

/** `bulgePx`: of `linkBulges`. */
export function linkPath(nodes: readonly [LinkEnd, LinkEnd], bulgePx = 0): LinkPath {
  const [{ node: one }, { node: other }] = nodes;
  const from = centreOf(nodeBox(one));
  const to = centreOf(nodeBox(other));
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  // Links of a bundle may list their ends in either order; the direction of the curve must not depend on it.
  const bulge = nodes[0].id < nodes[1].id ? bulgePx : -bulgePx;
  const normal = { x: (-dy / length) * bulge, y: (dx / length) * bulge };
  const control = { x: (from.x + to.x) / 2 + normal.x * 2, y: (from.y + to.y) / 2 + normal.y * 2 };
  const near = ({ symbol }: LinkEnd, start: Point, target: Point): Point => {
    const [ux, uy] = [target.x - start.x, target.y - start.y];
    const distance = Math.hypot(ux, uy) || 1;
    const away = Math.min(reach(symbol, ux, uy) + labelDistancePx, distance * 0.45);
    return { x: start.x + (ux / distance) * away, y: start.y + (uy / distance) * away };
  };
  const aim = bulge === 0 ? { one: to, other: from } : { one: control, other: control };
  return {
    d: bulge === 0 ? `M${from.x} ${from.y}L${to.x} ${to.y}` : `M${from.x} ${from.y}Q${control.x} ${control.y} ${to.x} ${to.y}`,
    middle: { x: (from.x + to.x) / 2 + normal.x, y: (from.y + to.y) / 2 + normal.y },
    aside: { x: -dy / length, y: dx / length },
    ends: [near(nodes[0], from, aim.one), near(nodes[1], to, aim.other)],
  };
}
