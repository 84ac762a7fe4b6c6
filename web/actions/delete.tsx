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

/** Links first: deleting a node deletes its links. @throws ApiError the first refusal */
async function deleteAll(
  api: { delete(path: string): Promise<void> },
  project: ProjectState,
  ids: readonly string[],
): Promise<void> {
  const links = ids.filter((id) => project.links.peek(id));
  const others = ids.filter((id) => !project.links.peek(id));
  const answers = [];
  for (const some of [links, others])
    answers.push(...(await Promise.allSettled(some.map((id) => api.delete(pathOf(project, id))))));
  const refused = answers.find((answer) => answer.status === 'rejected');
  if (refused) throw refused.reason;
}
