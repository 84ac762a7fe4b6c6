/** Align, lock, and layers. */
import { around, type Box } from '../geometry/geometry.ts';
import { arrangeNodes } from '../scene/layout/arrange-nodes.ts';
import type { LayoutName } from '../scene/layout/layouts.ts';
import { moveItems } from '../scene/move-items.ts';
import type { Item } from '../state/project.ts';
import { type ItemFields, putItems } from '../state/put-items.ts';
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
    const { project } = context;
    const moving = items(context).filter(({ object }) => !object.locked);
    const all = project && around(moving.map((item) => project.boxOf(item)));
    if (!all) return undefined;
    const moves = moving.map((item) => {
      const from = project.boxOf(item);
      const to = { x: from.x, y: from.y, ...places[edge](from, all) };
      return { id: idOf(item), from, to: { x: Math.round(to.x), y: Math.round(to.y) } };
    });
    return moveItems(project, moves);
  },
});

/** Equal gaps between the items; the first and the last stay. */
const distribute = (name: keyof typeof texts.distribute, key: string): Action => ({
  id: `distribute-${name}`,
  label: texts.distribute[name],
  group: 'arrange',
  keys: [key],
  enabled: (context) => items(context).filter(({ object }) => !object.locked).length > 2,
  run: (context) => {
    const { project } = context;
    if (!project) return undefined;
    const [at, size] = name === 'across' ? (['x', 'width'] as const) : (['y', 'height'] as const);
    const moving = items(context).filter(({ object }) => !object.locked);
    const boxes = moving.map((item) => ({ id: idOf(item), from: project.boxOf(item) })).sort((a, b) => a.from[at] - b.from[at]);
    const all = around(boxes.map(({ from }) => from));
    if (!all) return undefined;
    const gap = (all[size] - boxes.reduce((sum, { from }) => sum + from[size], 0)) / (boxes.length - 1);
    let next = all[at];
    const moves = boxes.map(({ id, from }) => {
      const to = { x: from.x, y: from.y, [at]: Math.round(next) };
      next += from[size] + gap;
      return { id, from, to };
    });
    return moveItems(project, moves);
  },
});

const automatic = (name: LayoutName, key: string): Action => ({
  id: `layout-${name}`,
  label: texts.layout[name],
  group: 'arrange',
  keys: [key],
  places: ['canvas'],
  enabled: ({ project }) => (project?.nodes.ids.value.length ?? 0) > 1,
  run: ({ app, project }) => project && arrangeNodes(app, project, name),
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

/** Changes the selected items in one step of undo. */
async function change(context: ActionContext, of: (item: Item) => ItemFields): Promise<void> {
  const { app, project } = context;
  if (project) await putItems(app.api, project, new Map(items(context).map((item) => [idOf(item), of(item)])));
}

export const arrangeActions: readonly Action[] = [
  align('left', 'Alt+ArrowLeft'),
  align('centre', 'Alt+V'),
  align('right', 'Alt+ArrowRight'),
  align('top', 'Alt+ArrowUp'),
  align('middle', 'Alt+H'),
  align('bottom', 'Alt+ArrowDown'),
  distribute('across', 'Alt+Shift+H'),
  distribute('down', 'Alt+Shift+V'),
  automatic('layered', 'Alt+Shift+L'),
  automatic('tree', 'Alt+Shift+T'),
  automatic('force', 'Alt+Shift+F'),
  automatic('ring', 'Alt+Shift+O'),
  lock,
  layer('raise', ']', 1),
  layer('lower', '[', -1),
];
