/** Selects a label for the arrow keys, and resets labels to their default positions. */
import { placedLabels, resetLabels } from '../scene/labels.ts';
import { texts } from '../texts.ts';
import type { Action, ActionContext } from './action.ts';

const isOneNodeOrLink = ({ app, project }: ActionContext) =>
  project?.selection.ids.value.size === 1 && project.selection.drawings.value.length === 0 && app.viewport.detail.value === 'near';

/** The label of the node, or each label of the link in turn; then the node or link itself again. */
const choose: Action = {
  id: 'select-label',
  label: texts.actions.selectLabel,
  group: 'arrange',
  keys: ['Shift+L'],
  enabled: isOneNodeOrLink,
  run: ({ project }) => {
    const [id = ''] = project?.selection.ids.peek() ?? [];
    const parts = project?.nodes.peek(id) ? (['name'] as const) : ([0, 1] as const);
    const now = project?.selection.label.peek();
    const next = now === undefined ? 0 : (parts as readonly unknown[]).indexOf(now) + 1;
    project?.selection.set([id], parts[next]);
  },
};

const placed = ({ project }: ActionContext) =>
  project ? placedLabels(project.selection.nodes.value, project.selection.links.value) : [];

const reset: Action = {
  id: 'reset-labels',
  label: texts.actions.resetLabels,
  group: 'arrange',
  keys: ['Alt+L'],
  places: ['node', 'link'],
  enabled: (context) => placed(context).length > 0,
  run: (context) => context.project && resetLabels(context.app, context.project, placed(context)),
};

export const labelActions: readonly Action[] = [choose, reset];
