/** Requests that change nodes, links and drawings of a project. */
import type { Api } from '../api.ts';
import type { ProjectState } from './project.ts';

/** Fields of nodes and drawings that the server changes for many at once. */
export interface ItemFields {
  readonly x?: number;
  readonly y?: number;
  readonly z?: number;
  readonly locked?: boolean;
}

/** Nodes, and drawings, of one bulk request. Source: docs/api.md */
const mostAtOnce = 2_000;

/** Changes nodes and drawings as one step of undo: all or none, up to `mostAtOnce` of each. @throws ApiError */
export async function putItems(api: Api, project: ProjectState, items: ReadonlyMap<string, ItemFields>): Promise<void> {
  const [[id, fields] = []] = items;
  if (id !== undefined && items.size === 1) {
    await api.put(pathOf(project, id), fields);
    return;
  }
  const nodes = [...items].flatMap(([id, fields]) => (project.nodes.peek(id) ? [{ node_id: id, ...fields }] : []));
  const drawings = [...items].flatMap(([id, fields]) => (project.drawings.peek(id) ? [{ drawing_id: id, ...fields }] : []));
  for (let at = 0; at < Math.max(nodes.length, drawings.length); at += mostAtOnce) {
    const until = at + mostAtOnce;
    await api.put(`${project.path}/bulk`, { nodes: nodes.slice(at, until), drawings: drawings.slice(at, until) });
  }
}

/** Path of the API. */
export function pathOf(project: ProjectState, id: string): string {
  if (project.nodes.peek(id)) return `${project.path}/nodes/${id}`;
  return project.links.peek(id) ? `${project.path}/links/${id}` : `${project.path}/drawings/${id}`;
}
