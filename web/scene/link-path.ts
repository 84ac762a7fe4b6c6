/** The path of a link between its two nodes, and the positions of its ends and middle. */
import type { Node } from '../../src/schema/node.ts';
import { aside, type Curve, curveBetween, pathOf, pointOn } from '../geometry/curve.ts';
import type { Box, Point } from '../geometry/geometry.ts';
import { centreOf, nodeBox } from '../geometry/geometry.ts';
import { dotAwayPx, endPoint } from '../geometry/label-spots.ts';
import type { CollapsedGroup } from '../state/groups.ts';

export interface LinkPath {
  readonly d: string;
  readonly curve: Curve;
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

/** `group`: the collapsed one that hides the node. */
export function linkEnd(node: Node, symbol: LinkEnd['symbol'], group: CollapsedGroup | undefined): LinkEnd {
  return group ? { id: group.id, node: { ...node, ...group.box }, symbol: group.box } : { id: node.node_id, node, symbol };
}

/** `bulgePx`: of the bends of the project. */
export function linkPath(nodes: readonly [LinkEnd, LinkEnd], bulgePx = 0): LinkPath {
  const [one, other] = nodes;
  const [from, to] = [centreOf(nodeBox(one.node)), centreOf(nodeBox(other.node))];
  // Links of a bundle may list their ends in either order; the direction of the curve must not depend on it.
  const curve = curveBetween(from, to, one.id < other.id ? bulgePx : -bulgePx);
  const symbols = [one.symbol, other.symbol] as const;
  return {
    d: pathOf(curve),
    curve,
    middle: pointOn(curve, 0.5),
    aside: aside(from, to),
    ends: [endPoint(curve, 0, symbols, dotAwayPx), endPoint(curve, 1, symbols, dotAwayPx)],
  };
}
