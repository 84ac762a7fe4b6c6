import type { Api } from '../api.ts';
import type { ProjectState } from '../state/project.ts';
import { pathOf } from '../state/put-items.ts';
import { texts } from '../texts.ts';
import { ask } from '../ui/ask.tsx';
import type { Action } from './action.ts';

export const deleteSelected: Action = {
  id: 'delete',
  label: texts.actions.delete,
  group: 'edit',
  icon: 'trash',
  keys: ['Delete', 'Backspace'],
  places: ['node', 'link', 'drawing'],
  danger: true,
  enabled: ({ project }) => project !== undefined && !project.selection.isEmpty,
  run: async ({ app, project }) => {
    if (!project) return;
    const ids = [...project.selection.ids.peek()];
    const nodes = project.selection.nodes.peek();
    // Links and drawings are easy to create again; the disks of a node are not.
    if (nodes.length > 0 && !(await ask(app, { ...texts.askDelete(nodes.map(({ name }) => name)), danger: true }))) return;
    await deleteAll(app.api, project, ids);
  },
};

/** Deletes all items with one request, in one step of undo. @throws ApiError nothing is deleted then */
async function deleteAll(api: Api, project: ProjectState, ids: readonly string[]): Promise<void> {
  const [id = '', ...more] = ids;
  if (more.length === 0) {
    await api.delete(pathOf(project, id));
    return;
  }
  const some = (list: { peek(id: string): unknown }) => ids.filter((each) => list.peek(each) !== undefined);
  const { nodes, links, drawings } = project;
  await api.post(`${project.path}/bulk/delete`, { nodes: some(nodes), links: some(links), drawings: some(drawings) });
}
