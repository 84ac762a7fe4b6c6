/** A node goes to another compute: offered where there are several. */
import { texts } from '../texts.ts';
import type { Action, ActionContext } from './action.ts';

const chosen = ({ project }: ActionContext) => {
  const [node, ...others] = project?.selection.nodes.value ?? [];
  return others.length === 0 ? node : undefined;
};

export const moveNode: Action = {
  id: 'move-node',
  label: texts.move.offer,
  group: 'nodes',
  places: ['node'],
  offered: ({ app }) => app.server.computes.all.value.length > 1,
  enabled: (context) => chosen(context) !== undefined,
  run: async (context) => {
    const node = chosen(context);
    const { project, app } = context;
    if (!node || !project) return;
    const { showMove } = await import('../dialogs/move-dialog.tsx');
    showMove(app, project, node);
  },
};
