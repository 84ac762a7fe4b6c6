/** Nodes with the links between them, and drawings, as text that can be pasted into any project, also of another server. */
import type { BulkCreate } from '../../src/schema/bulk.ts';
import type { Drawing } from '../../src/schema/drawing.ts';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { Point } from '../geometry/geometry.ts';
import type { ProjectState } from '../state/project.ts';

const nodeKeys = [
  'node_id',
  'name',
  'node_type',
  'compute_id',
  'console_type',
  'console_auto_start',
  'custom_adapters',
  'first_port_name',
  'height',
  'label',
  'port_name_format',
  'port_segment_size',
  'properties',
  'symbol',
  'template_id',
  'width',
  'x',
  'y',
  'z',
] as const satisfies readonly (keyof Node)[];
const linkKeys = ['nodes', 'filters', 'suspend', 'link_style'] as const satisfies readonly (keyof Link)[];
const drawingKeys = ['svg', 'x', 'y', 'z', 'rotation'] as const satisfies readonly (keyof Drawing)[];
/** Properties that are unique to a node: the compute generates those of a copy. */
const ownProperties: ReadonlySet<string> = new Set(['application_id', 'aux', 'dynamips_id', 'mac_addr', 'mac_address']);

export type ClipNode = Pick<Node, (typeof nodeKeys)[number]>;

export interface Clip {
  /** Version of this format. */
  readonly patchbay: 1;
  readonly project_id: string;
  readonly nodes: readonly ClipNode[];
  readonly links: readonly Pick<Link, (typeof linkKeys)[number]>[];
  readonly drawings: readonly Pick<Drawing, (typeof drawingKeys)[number]>[];
  /** Links to nodes that were not copied. */
  readonly links_left_out: number;
}

function pick<T extends object, K extends keyof T>(object: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, object[key]])) as Pick<T, K>;
}

/** Ignores ids of links: a link is copied when both its nodes are. A group is copied with its members. */
export function clipOf(project: ProjectState, ids: Iterable<string>): Clip {
  const chosen = [...project.groups.withMembers(ids, 'also locked')];
  const nodes = chosen.flatMap((id) => project.nodes.peek(id) ?? []);
  const copied = new Set(nodes.map(({ node_id }) => node_id));
  const touching = project.links.all.peek().filter((link) => link.nodes.some(({ node_id }) => copied.has(node_id)));
  const inner = touching.filter((link) => link.nodes.every(({ node_id }) => copied.has(node_id)));
  return {
    patchbay: 1,
    project_id: project.id,
    nodes: nodes.map((node) => pick(node, nodeKeys)),
    links: inner.map((link) => pick(link, linkKeys)),
    drawings: chosen.flatMap((id) => project.drawings.peek(id) ?? []).map((drawing) => pick(drawing, drawingKeys)),
    links_left_out: touching.length - inner.length,
  };
}

/** Undefined for any other text. */
export function readClip(text: string): Clip | undefined {
  try {
    const clip = JSON.parse(text) as Clip;
    const isClip = clip.patchbay === 1 && [clip.nodes, clip.links, clip.drawings].every((list) => Array.isArray(list));
    return isClip ? clip : undefined;
  } catch {
    return undefined;
  }
}

/** Creates all items at another place in one request; a compute unknown to this server is replaced by the local one. */
export function bulkOf({ nodes, links, drawings }: Clip, by: Point, isCompute: (id: string) => boolean): BulkCreate {
  return {
    nodes: nodes.map(({ node_id, height, width, ...node }) => ({
      ...node,
      ref: node_id,
      compute_id: isCompute(node.compute_id) ? node.compute_id : 'local',
      properties: Object.fromEntries(Object.entries(node.properties).filter(([key]) => !ownProperties.has(key))),
      ...moved(node, by),
    })),
    links: links.map(({ nodes: ends, ...link }) => ({
      ...link,
      nodes: ends.map(({ node_id, ...end }) => ({ ...end, ref: node_id })),
    })),
    drawings: drawings.map((drawing) => ({ ...drawing, ...moved(drawing, by) })),
  };
}

const moved = ({ x, y }: Point, by: Point): Point => ({ x: Math.round(x + by.x), y: Math.round(y + by.y) });
