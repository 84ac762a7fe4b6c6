import { centreOf } from '../geometry/geometry.ts';
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

/** Leaves the current tool, then deselects a label, then clears the selection. */
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

/** Cycles through the links, starting with those of the selected node. */
const linkInOrder = (step: 1 | -1): Action['run'] => {
  return ({ project }) => {
    if (!project) return;
    const { selection, links, linksOf } = project;
    const [node] = selection.nodes.peek();
    const [current] = selection.links.peek();
    const all = links.ids.peek();
    const ofNode = node && linksOf.peek().get(node.node_id)?.[0]?.link_id;
    const after = all[(all.indexOf(current?.link_id ?? '') + step + all.length) % all.length];
    const next = ofNode ?? after;
    if (next !== undefined) selection.set([next]);
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
export const selectLinks: readonly Action[] = ([1, -1] as const).map((step) => ({
  id: step === 1 ? 'select-next-link' : 'select-previous-link',
  label: step === 1 ? texts.actions.selectNextLink : texts.actions.selectPreviousLink,
  group: 'edit',
  keys: [step === 1 ? 'E' : 'Shift+E'],
  enabled: (context) => inProject(context) && (context.project?.links.ids.value.length ?? 0) > 0,
  run: linkInOrder(step),
}));

/** The context menu of the selection. */
export const openMenu: Action = {
  id: 'menu',
  label: texts.actions.menu,
  group: 'edit',
  keys: ['M', 'ContextMenu'],
  enabled: inProject,
  run: ({ app, project }) => {
    if (!project) return;
    const [id = ''] = project.selection.ids.peek();
    const [end] = project.links.peek(id)?.nodes ?? [];
    const item = project.findItem(end?.node_id ?? id);
    app.tools.menu.value = app.viewport.windowPlace(item ? centreOf(project.boxOf(item)) : app.viewport.centre());
  },
};
