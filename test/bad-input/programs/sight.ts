/** Reads a project as clients see it: to choose from, and as facts. */
import type { Link } from '../../../src/schema/link.ts';
import type { Project } from '../../../src/schema/project.ts';
import type { RawClient } from '../../support/raw-http.ts';

export interface SeenNode {
  readonly node_id: string;
  readonly name: string;
  readonly node_type: string;
  readonly compute_id: string;
  readonly status: string;
  readonly console: number | null;
  readonly x: number;
  readonly y: number;
  readonly ports: readonly { readonly adapter_number: number; readonly port_number: number; readonly link_type: string }[];
}
export interface Sight {
  readonly project: Project;
  readonly nodes: readonly SeenNode[];
  readonly links: readonly Link[];
  readonly drawings: readonly { readonly drawing_id: string; readonly x: number; readonly y: number; readonly svg: string }[];
  readonly snapshots: readonly { readonly snapshot_id: string; readonly name: string }[];
  /** Steps that can be undone and redone; none of a closed project. */
  readonly steps: { readonly undoable: readonly number[]; readonly redoable: readonly number[] };
}

/** Undefined: the project is gone, or its lists cannot be read since it is closed. */
export async function look(client: RawClient, id: string): Promise<Sight | undefined> {
  const lists = ['', '/nodes', '/links', '/drawings', '/snapshots'];
  const replies = await Promise.all(lists.map((list) => client.send(`GET /v2/projects/${id}${list}`)));
  if (replies.some(({ status }) => status !== 200)) return undefined;
  const [project, nodes, links, drawings, snapshots] = replies.map((reply) => reply.json<unknown>());
  const history = await client.send(`GET /v2/projects/${id}/history`);
  const steps = history.status === 200 ? history.json<Sight['steps']>() : { undoable: [], redoable: [] };
  return { project, nodes, links, drawings, snapshots, steps } as Sight;
}

export const keysOf = {
  project: (id: string) => `${id}/project`,
  node: (id: string, node: string) => `${id}/nodes/${node}/`,
  /** The server gives links their ids: they are known by their ends. */
  link: (id: string, nodes: Link['nodes']) => `${id}/links/${endsOf(nodes)}/`,
  drawing: (id: string, drawing: string) => `${id}/drawings/${drawing}/`,
  snapshot: (id: string, snapshot: string) => `${id}/snapshots/${snapshot}/name`,
};

export const endsOf = (nodes: Link['nodes']) =>
  nodes
    .map((end) => `${end.node_id}:${end.adapter_number}/${end.port_number}`)
    .sort()
    .join('+');
export const place = (x: number, y: number) => `${x},${y}`;

const always = new Set(['ethernet_switch', 'ethernet_hub', 'cloud', 'frame_relay_switch', 'atm_switch', 'nat']);

/** Whether its user starts and stops it. One that always runs is shown as stopped only until it can be made. */
export function isRunnable({ node_type }: Pick<SeenNode, 'node_type'>): boolean {
  return !always.has(node_type);
}

/** All of a project that must survive. */
export function factsOf({ project, nodes, links, drawings, snapshots }: Sight): Map<string, string> {
  const id = project.project_id;
  const facts = new Map([[`${keysOf.project(id)}/zoom`, String(project.zoom)]]);
  for (const node of nodes) {
    const key = keysOf.node(id, node.node_id);
    facts.set(`${key}at`, place(node.x, node.y));
    facts.set(`${key}name`, node.name);
    facts.set(`${key}compute`, node.compute_id);
    if (isRunnable(node)) facts.set(`${key}status`, node.status);
  }
  for (const link of links) {
    const key = keysOf.link(id, link.nodes);
    facts.set(`${key}filters`, JSON.stringify(link.filters));
    facts.set(`${key}suspend`, String(link.suspend));
    facts.set(`${key}capturing`, String(link.capturing));
  }
  for (const { drawing_id, x, y, svg } of drawings) {
    facts.set(`${keysOf.drawing(id, drawing_id)}at`, place(x, y));
    facts.set(`${keysOf.drawing(id, drawing_id)}svg`, svg);
  }
  for (const { snapshot_id, name } of snapshots) facts.set(keysOf.snapshot(id, snapshot_id), name);
  return facts;
}
