/** What a listener that was away is told: the changes since, as they were told then, and how things are that are told without being changes. */

import type { Drawing } from '../../../schema/drawing.ts';
import type { Link } from '../../../schema/link.ts';
import type { LogRecord } from '../../log/project-state.ts';
import { type NodeObject, unknownLive } from '../../model/node.ts';
import { type NodeEntry, toNodeEntry } from '../../model/topology.ts';
import { readPicture } from '../drawings/pictures.ts';
import type { Notice } from '../host/project-host.ts';
import type { ProjectLinks } from '../links/project-links.ts';
import { OpenNode } from '../nodes/open-node.ts';
import type { ProjectNodes } from '../nodes/project-nodes.ts';

export interface Place {
  readonly projectId: string;
  readonly folder: string;
  readonly nodes: ProjectNodes;
}

/** The notice of each of these changes that had one, in order. */
export async function noticesOf(records: readonly LogRecord[], place: Place): Promise<Notice[]> {
  const notices: Notice[] = [];
  for (const record of records) {
    const event = await eventOf(record, place);
    if (event) notices.push({ action: record.action, event, seq: record.seq });
  }
  return notices;
}

async function eventOf({ action, event, udp_ports }: LogRecord, place: Place): Promise<object | undefined> {
  switch (action) {
    case 'node.created':
    case 'node.updated':
    case 'node.deleted':
      return nodeObject(event as NodeEntry, place);
    case 'link.created':
    case 'link.deleted':
      return event;
    case 'link.updated':
      // With ports: its frames go elsewhere, which is nobody's business.
      return udp_ports ? undefined : event;
    case 'drawing.created':
    case 'drawing.updated':
    case 'drawing.deleted': {
      const { svg, ...moved } = event as Partial<Drawing>;
      return svg === undefined ? moved : { ...moved, svg: await readPicture(place.folder, svg) };
    }
    default:
      return undefined;
  }
}

/** The log holds what is stored of a node; all else follows from that and from how the node is now. */
function nodeObject(stored: NodeEntry, { projectId, nodes }: Place): NodeObject {
  const known = nodes.find(stored.node_id);
  if (known?.entry === stored) return known.object;
  const entry = toNodeEntry(stored);
  const compute = known?.compute ?? nodes.computeOf(entry);
  return new OpenNode(projectId, compute, entry, known?.live ?? unknownLive).object;
}

/** Nodes and links whose state was told although they did not change, with the number of the change that was the last one then. */
export class Told {
  readonly #nodes = new Map<string, number>();
  readonly #links = new Map<string, number>();

  note({ action, event }: Notice, seq: number): void {
    if (action === 'node.deleted') this.#nodes.delete((event as NodeObject).node_id);
    if (action === 'link.deleted') this.#links.delete((event as Link).link_id);
    if (action === 'node.updated' || action === 'node.created') this.#nodes.set((event as NodeObject).node_id, seq);
    if (action === 'link.updated') this.#links.set((event as Link).link_id, seq);
  }

  /** How those are now that were told at or after this change. */
  after(since: number, nodes: ProjectNodes, links: ProjectLinks): Notice[] {
    return [
      ...present(this.#nodes, since, (id) => nodes.find(id)?.object).map((event) => ({ action: 'node.updated', event })),
      ...present(this.#links, since, (id) => links.find(id)?.object).map((event) => ({ action: 'link.updated', event })),
    ];
  }
}

/** Forgets those that are gone. */
function present(told: Map<string, number>, since: number, find: (id: string) => object | undefined): object[] {
  const objects: object[] = [];
  for (const [id, seq] of told) {
    const object = find(id);
    if (!object) told.delete(id);
    else if (seq >= since) objects.push(object);
  }
  return objects;
}
