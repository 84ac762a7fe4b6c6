/** Copy and paste within a project: nodes with their disks, the links between them, drawings. */
import type { Drawing } from '../../src/schema/drawing.ts';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { Api } from '../api.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { type Action, inProject } from './action.ts';

/** Beside the original. */
const offsetPx = 40;

export const copy: Action = {
  id: 'copy',
  label: texts.actions.copy,
  group: 'edit',
  keys: ['Mod+C'],
  places: ['node', 'drawing'],
  enabled: ({ project }) => (project?.selection.nodes.value.length ?? 0) + (project?.selection.drawings.value.length ?? 0) > 0,
  run: ({ app, project }) => {
    if (!project) return;
    app.clipboard.value = { projectId: project.id, ids: [...project.selection.ids.peek()] };
    app.toasts.show('info', texts.copied(project.selection.ids.peek().size));
  },
};

export const paste: Action = {
  id: 'paste',
  label: texts.actions.paste,
  group: 'edit',
  keys: ['Mod+V'],
  places: ['canvas', 'node'],
  enabled: (context) => inProject(context) && context.app.clipboard.value?.projectId === context.project?.id,
  run: ({ app, project }) => project && pasteInto(app.api, project, app.clipboard.peek()?.ids ?? []),
};

export const duplicateSelected: Action = {
  id: 'duplicate',
  label: texts.actions.duplicate,
  group: 'edit',
  icon: 'copy',
  keys: ['Mod+D'],
  places: ['node', 'drawing'],
  enabled: copy.enabled,
  run: ({ app, project }) => project && pasteInto(app.api, project, [...project.selection.ids.peek()]),
};

/** @throws ApiError the first refusal, after everything else was made */
async function pasteInto(api: Api, project: ProjectState, ids: readonly string[]): Promise<void> {
  const nodes = ids.flatMap((id) => project.nodes.peek(id) ?? []);
  const drawings = ids.flatMap((id) => project.drawings.peek(id) ?? []);
  const copies = new Map<string, Node>();
  const made = await Promise.allSettled([
    ...nodes.map(async (node) => {
      const place = { x: node.x + offsetPx, y: node.y + offsetPx, z: node.z };
      copies.set(node.node_id, await api.post<Node>(`${project.path}/nodes/${node.node_id}/duplicate`, place));
    }),
    ...drawings.map(({ svg, x, y, z, rotation }) =>
      api.post<Drawing>(`${project.path}/drawings`, { svg, x: x + offsetPx, y: y + offsetPx, z, rotation }),
    ),
  ]);
  const linked = await Promise.allSettled(linksAmong(project, copies).map((body) => api.post(`${project.path}/links`, body)));
  project.selection.set([...copies.values()].map(({ node_id }) => node_id));
  const refused = [...made, ...linked].find((answer) => answer.status === 'rejected');
  if (refused) throw refused.reason;
}

/** Bodies of the links that join the copies as their originals are joined. */
function linksAmong(project: ProjectState, copies: ReadonlyMap<string, Node>): object[] {
  const inner = project.links.all.peek().filter(({ nodes }) => nodes.every(({ node_id }) => copies.has(node_id)));
  return inner.map(({ nodes, filters, suspend, link_style }: Link) => ({
    nodes: nodes.map((end) => ({ ...end, node_id: copies.get(end.node_id)?.node_id })),
    ...{ filters, suspend, link_style },
  }));
}
