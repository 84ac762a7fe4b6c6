/** Automatic layouts: where the nodes of a graph are placed. Runs in a worker, and independent of the page. */
import { Graph, layout as layer } from '@dagrejs/dagre';
import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from 'd3-force';

export type LayoutName = 'layered' | 'tree' | 'force' | 'ring';

export interface LayoutNode {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  /** Row of a tree, 0 is the uppermost. */
  readonly tier: number;
}

export interface LayoutGraph {
  readonly name: LayoutName;
  readonly nodes: readonly LayoutNode[];
  /** Ids of two nodes. */
  readonly links: readonly (readonly [string, string])[];
}

/** Centres, by node. */
export type Places = ReadonlyMap<string, { readonly x: number; readonly y: number }>;

/** Room for names and port labels. Pixels. */
const gapPx = { beside: 70, between: 90 } as const;
/** Height of a node's name. Pixels. */
const nameHeightPx = 24;

/** Ticks until the simulation of d3-force is cold. */
const forceTicks = 300;

export function layout({ name, nodes, links }: LayoutGraph): Places {
  return { layered, tree, force, ring }[name](nodes, links);
}

/** The node with the most links is the root of its part; the others are in layers by their distance to it. */
function layered(nodes: readonly LayoutNode[], links: LayoutGraph['links']): Places {
  const depth = depths(nodes, links);
  const graph = new Graph({ multigraph: false })
    .setGraph({ rankdir: 'TB', nodesep: gapPx.beside, ranksep: gapPx.between })
    .setDefaultEdgeLabel(() => ({}));
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height });
  for (const [one, other] of links) {
    const [above, below] = (depth.get(one) ?? 0) <= (depth.get(other) ?? 0) ? [one, other] : [other, one];
    graph.setEdge(above, below);
  }
  layer(graph);
  return placesIn(graph, nodes);
}

function placesIn(graph: Graph, nodes: readonly LayoutNode[]): Places {
  return new Map(
    nodes.map(({ id }) => {
      const { x = 0, y = 0 } = graph.node(id) as { x?: number; y?: number };
      return [id, { x, y }];
    }),
  );
}

/**
 * Rows by tier, crossings reduced by dagre: an edge is as long as its tiers are apart, so that every node is in the row of its
 * tier. Links inside a row do not matter.
 */
function tree(nodes: readonly LayoutNode[], links: LayoutGraph['links']): Places {
  const tiers = [...new Set(nodes.map(({ tier }) => tier))].sort((one, other) => one - other);
  const rows = new Map(nodes.map(({ id, tier }) => [id, tiers.indexOf(tier)]));
  const graph = new Graph({ multigraph: false })
    .setGraph({ rankdir: 'TB', nodesep: gapPx.beside, ranksep: gapPx.between, edgesep: 10 })
    .setDefaultEdgeLabel(() => ({}));
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height });
  const below = new Set<string>();
  for (const [one, other] of links) {
    const apart = (rows.get(other) ?? 0) - (rows.get(one) ?? 0);
    if (apart === 0) continue;
    const [upper, lower] = apart > 0 ? [one, other] : [other, one];
    graph.setEdge(upper, lower, { minlen: Math.abs(apart) });
    below.add(lower);
  }
  const root = '#';
  graph.setNode(root, { width: 0, height: 0 });
  for (const { id } of nodes) if (!below.has(id)) graph.setEdge(root, id, { minlen: (rows.get(id) ?? 0) + 1, weight: 0 });
  layer(graph);
  return placesIn(graph, nodes);
}

interface Body extends SimulationNodeDatum {
  readonly id: string;
  /** Radius of the node with the room around it. */
  readonly radius: number;
}

/** Links pull, nodes push each other away: for meshes without an order. The same graph gives the same picture. */
function force(nodes: readonly LayoutNode[], links: LayoutGraph['links']): Places {
  const bodies = nodes.map(({ id, width, height }): Body => ({ id, radius: (Math.hypot(width, height) + gapPx.beside) / 2 }));
  const springs = links.map(([source, target]): SimulationLinkDatum<Body> => ({ source, target }));
  const pull = forceLink<Body, SimulationLinkDatum<Body>>(springs)
    .id(({ id }) => id)
    .distance(2 * gapPx.between);
  const simulation = forceSimulation(bodies)
    .force('links', pull)
    .force('charges', forceManyBody().strength(-900))
    .force('room', forceCollide<Body>(({ radius }) => radius).iterations(3))
    // Parts without a link between them stay near each other.
    .force('x', forceX(0).strength(0.03))
    .force('y', forceY(0).strength(0.03))
    .stop()
    .tick(forceTicks);
  return new Map(simulation.nodes().map(({ id, x = 0, y = 0 }) => [id, { x, y }]));
}

/**
 * Places nodes on a ring in the order of a walk along the links, so that neighbours in the ring are usually linked. Wherever two of them
 * stand, the diagonal of their boxes with names is between their centres, so that no name lies on a neighbour.
 */
function ring(nodes: readonly LayoutNode[], links: LayoutGraph['links']): Places {
  const order = [...depths(nodes, links, 'deep').keys()];
  const apart = Math.max(...nodes.map(({ width, height }) => Math.hypot(width + gapPx.beside, height + nameHeightPx)));
  const radius = apart / (2 * Math.sin(Math.PI / Math.max(2, order.length)));
  const turn = (2 * Math.PI) / Math.max(1, order.length);
  return new Map(order.map((id, place) => [id, { x: radius * Math.sin(place * turn), y: -radius * Math.cos(place * turn) }]));
}

/** The distance of each node to the root of its part, in the order of the walk. */
function depths(nodes: readonly LayoutNode[], links: LayoutGraph['links'], walk: 'wide' | 'deep' = 'wide'): Map<string, number> {
  const neighbours = new Map<string, string[]>(nodes.map(({ id }) => [id, []]));
  for (const [one, other] of links) {
    neighbours.get(one)?.push(other);
    neighbours.get(other)?.push(one);
  }
  const degree = (id: string) => neighbours.get(id)?.length ?? 0;
  const found = new Map<string, number>();
  for (const { id: root } of nodes.toSorted((one, other) => degree(other.id) - degree(one.id))) {
    const waiting = [{ id: root, depth: 0 }];
    for (let at = 0; at < waiting.length; at += 1) {
      const next = walk === 'deep' ? waiting.pop() : waiting[at];
      if (walk === 'deep') at = -1;
      if (!next || found.has(next.id)) continue;
      found.set(next.id, next.depth);
      for (const id of neighbours.get(next.id) ?? []) if (!found.has(id)) waiting.push({ id, depth: next.depth + 1 });
    }
  }
  return found;
}
