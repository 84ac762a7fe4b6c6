import { idOfItem } from '../scene/gestures.ts';
import { texts } from '../texts.ts';
import { type Action, inProject } from './action.ts';

export const selectAll: Action = {
  id: 'select-all',
  label: texts.actions.selectAll,
  group: 'edit',
  keys: ['Mod+A'],
  places: ['canvas'],
  enabled: inProject,
  run: ({ project }) => project?.selection.set(project.items().map(idOfItem)),
};

/** Back to the plain pointer, then from a label to its node or link, then to no selection. */
export const leave: Action = {
  id: 'leave',
  label: texts.actions.leave,
  group: 'edit',
  keys: ['Escape'],
  enabled: inProject,
  run: ({ app, project }) => {
    const isPlain = app.tools.tool.peek().name === 'select' && app.tools.menu.peek() === undefined && !app.portMenu.peek();
    app.tools.reset();
    app.sketch.value = {};
    app.portMenu.value = undefined;
    if (!isPlain || !project) return;
    const { selection } = project;
    if (selection.label.peek() === undefined) selection.clear();
    else selection.set([...selection.ids.peek()]);
  },
};

const inOrder = (step: 1 | -1): Action['run'] => {
  return ({ project }) => {
    const ids = project?.items().map(idOfItem) ?? [];
    if (!project || ids.length === 0) return;
    const [current = ''] = project.selection.ids.peek();
    const next = ids[(ids.indexOf(current) + step + ids.length) % ids.length] ?? '';
    project.selection.set([next]);
  };
};

export const selectNext: Action = {
  id: 'select-next',
  label: texts.actions.selectNext,
  group: 'edit',
  keys: ['N'],
  enabled: inProject,
  run: inOrder(1),
};
export const selectPrevious: Action = {
  id: 'select-previous',
  label: texts.actions.selectPrevious,
  group: 'edit',
  keys: ['Shift+N'],
  enabled: inProject,
  run: inOrder(-1),
};
