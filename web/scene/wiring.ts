/** Creates a link: a port of one node, then a port of another. Connects an end of a link to another port in the same way. */
import type { Link, LinkEnd } from '../../src/schema/link.ts';
import type { Node, Port } from '../../src/schema/node.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import type { MovedEnd } from '../state/tools.ts';
import { until } from '../state/until.ts';
import { texts } from '../texts.ts';

export interface PortState {
  readonly port: Port;
  /** The peer of a port that is already linked. */
  readonly linkedTo?: string;
}

export function portsOf(project: ProjectState, node: Node): PortState[] {
  const links = project.linksOf.peek().get(node.node_id) ?? [];
  return node.ports.map((port) => {
    const link = links.find(({ nodes }) => nodes.some((end) => end.node_id === node.node_id && isAt(end, port)));
    const other = link?.nodes.find((end) => end.node_id !== node.node_id);
    return other ? { port, linkedTo: project.nodes.peek(other.node_id)?.name ?? '' } : { port };
  });
}

function isAt(end: LinkEnd, port: Port): boolean {
  return end.adapter_number === port.adapter_number && end.port_number === port.port_number;
}

interface Place {
  readonly nodeId: string | undefined;
  readonly x: number;
  readonly y: number;
}

/** Handles a chosen node: asks for the port, unless there is only one. */
export function pickPort(app: App, project: ProjectState, { nodeId, x, y }: Place): void {
  const { tools, toasts } = app;
  const node = nodeId === undefined ? undefined : project.nodes.peek(nodeId);
  const tool = tools.tool.peek();
  if (!node || tool.name !== 'wire') {
    tools.tool.value = { name: 'wire' };
    app.sketch.value = {};
    app.portMenu.value = undefined;
    return;
  }
  if (tool.from?.node_id === node.node_id) return;
  const free = portsOf(project, node).filter(({ linkedTo }) => linkedTo === undefined);
  const [only] = free;
  if (!only) toasts.show('error', texts.noFreePort(node.name));
  else if (node.ports.length === 1) choosePort(app, project, node, only.port);
  else app.portMenu.value = { nodeId: node.node_id, x, y };
}

/** The first port is kept; the second one completes the link. */
export function choosePort(app: App, project: ProjectState, node: Node, port: Port): void {
  app.portMenu.value = undefined;
  const end: LinkEnd = { node_id: node.node_id, adapter_number: port.adapter_number, port_number: port.port_number };
  const tool = app.tools.tool.peek();
  const from = tool.name === 'wire' ? tool.from : undefined;
  app.sketch.value = {};
  if (!from) {
    app.tools.tool.value = { name: 'wire', from: end };
    return;
  }
  if (tool.name === 'wire' && tool.moves) {
    const { moves } = tool;
    app.tools.reset();
    void app.toasts.attempt(() => connectEnd(app, project, moves, [from, end]));
    return;
  }
  app.tools.tool.value = { name: 'wire' };
  void app.toasts.attempt(() => app.api.post(`${project.path}/links`, { nodes: [from, end] }));
}

/** The link's other end stays; a port is chosen next, as for a new link. */
export function beginMove(app: App, link: Link, end: 0 | 1): void {
  const kept = link.nodes[end === 0 ? 1 : 0];
  if (!kept) return;
  const { node_id, adapter_number, port_number } = kept;
  app.portMenu.value = undefined;
  app.tools.tool.value = {
    name: 'wire',
    from: { node_id, adapter_number, port_number },
    moves: { linkId: link.link_id, end },
  };
}

/**
 * Moves an end of a link in one step of undo. The server recreates the link: it is selected again, unless the user has selected
 * something else. @throws ApiError
 */
async function connectEnd(
  app: App,
  project: ProjectState,
  { linkId, end }: MovedEnd,
  [kept, moved]: readonly [LinkEnd, LinkEnd],
): Promise<void> {
  const isSelected = project.selection.ids.peek().has(linkId);
  await app.api.put(`${project.path}/links/${linkId}/ends`, { nodes: end === 0 ? [moved, kept] : [kept, moved] });
  const isMoved = (to: LinkEnd | undefined) =>
    to?.node_id === moved.node_id && to.adapter_number === moved.adapter_number && to.port_number === moved.port_number;
  await until(() => isMoved(project.links.find(linkId)?.nodes[end]));
  if (isSelected && project.selection.ids.peek().size === 0) project.selection.set([linkId]);
}
