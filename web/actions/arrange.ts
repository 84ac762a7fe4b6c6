/** Align, lock, and layers. */
import type { Api } from '../api.ts';
import { around, type Box } from '../geometry/geometry.ts';
import { moveItems, pathOf } from '../scene/move-items.ts';
import type { Item, ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import type { Action, ActionContext } from './action.ts';

type Edge = keyof typeof texts.align;

/** The position of an item after all items are aligned to an edge or the middle of their common box. */
const places: Readonly<Record<Edge, (box: Box, all: Box) => Partial<Box>>> = {
  left: (_, all) => ({ x: all.x }),
  centre: (box, all) => ({ x: all.x + (all.width - box.width) / 2 }),
  right: (box, all) => ({ x: all.x + all.width - box.width }),
  top: (_, all) => ({ y: all.y }),
  middle: (box, all) => ({ y: all.y + (all.height - box.height) / 2 }),
  bottom: (box, all) => ({ y: all.y + all.height - box.height }),
};

const items = ({ project }: ActionContext): readonly Item[] =>
  project ? [...project.selection.ids.value].flatMap((id) => project.findItem(id) ?? []) : [];
const idOf = (item: Item) => (item.kind === 'node' ? item.object.node_id : item.object.drawing_id);

const align = (edge: Edge, key: string): Action => ({
  id: `align-${edge}`,
  label: texts.align[edge],
  group: 'arrange',
  keys: [key],
  enabled: (context) => items(context).filter(({ object }) => !object.locked).length > 1,
  run: (context) => {
    const { app, project } = context;
    const moving = items(context).filter(({ object }) => !object.locked);
    const all = project && around(moving.map((item) => project.boxOf(item)));
    if (!all) return undefined;
    const moves = moving.map((item) => {
      const from = project.boxOf(item);
      const to = { x: from.x, y: from.y, ...places[edge](from, all) };
      return { id: idOf(item), from, to: { x: Math.round(to.x), y: Math.round(to.y) } };
    });
    return moveItems(app.api, project, moves);
  },
});

const lock: Action = {
  id: 'lock',
  label: texts.actions.lock,
  group: 'arrange',
  icon: 'lock',
  keys: ['K'],
  places: ['node', 'drawing'],
  enabled: (context) => items(context).length > 0,
  on: (context) => items(context).length > 0 && items(context).every(({ object }) => object.locked),
  run: (context) => {
    const locked = !items(context).every((item) => item.object.locked);
    return change(context, () => ({ locked }));
  },
};

const layer = (id: 'raise' | 'lower', key: string, step: 1 | -1): Action => ({
  id,
  label: texts.actions[id],
  group: 'arrange',
  keys: [key],
  places: ['node', 'drawing'],
  enabled: (context) => items(context).length > 0,
  run: (context) => change(context, ({ object }) => ({ z: object.z + step })),
});

function change({ app, project }: ActionContext, of: (item: Item) => object): Promise<unknown> {
  const chosen = items({ app, project });
  return project ? putAll(app.api, project, chosen, of) : Promise.resolve();
}

function putAll(api: Api, project: ProjectState, chosen: readonly Item[], of: (item: Item) => object): Promise<unknown> {
  return Promise.all(chosen.map((item) => api.put(pathOf(project, idOf(item)), of(item))));
}

export const arrangeActions: readonly Action[] = [
  align('left', 'Alt+ArrowLeft'),
  align('centre', 'Alt+V'),
  align('right', 'Alt+ArrowRight'),
  align('top', 'Alt+ArrowUp'),
  align('middle', 'Alt+H'),
  align('bottom', 'Alt+ArrowDown'),
  lock,
  layer('raise', ']', 1),
  layer('lower', '[', -1),
];
