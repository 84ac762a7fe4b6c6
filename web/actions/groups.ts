/** Groups of items: made around the selection, removed, collapsed and expanded. Each is one step of undo. */
import { around } from '../geometry/geometry.ts';
import { changeItem } from '../scene/move-items.ts';
import { groupSvg, withGroup } from '../scene/shape-svg.ts';
import { texts } from '../texts.ts';
import type { Action, ActionContext } from './action.ts';

/** Room between the frame and its items; more above, where the names of nodes are. */
const marginPx = { beside: 26, above: 44 };

const group: Action = {
  id: 'group',
  label: texts.group,
  group: 'arrange',
  icon: 'rectangle',
  keys: ['Mod+G'],
  places: ['node'],
  enabled: ({ project }) => (project?.selection.nodes.value.length ?? 0) > 0,
  run: async ({ app, project }) => {
    const items = project ? [...project.selection.ids.peek()].flatMap((id) => project.findItem(id) ?? []) : [];
    const box = project && around(items.map((item) => project.boxOf(item)));
    if (!box) return;
    const { beside, above } = marginPx;
    const svg = groupSvg({ width: Math.round(box.width + 2 * beside), height: Math.round(box.height + beside + above) });
    const body = { svg, x: Math.round(box.x - beside), y: Math.round(box.y - above), z: -1 };
    const select = project.selection.whenMade();
    const { drawing_id } = await app.api.post<{ drawing_id: string }>(`${project.path}/drawings`, body);
    select([drawing_id]);
  },
};

const chosen = ({ project }: ActionContext) => {
  const [drawing, ...others] = project?.selection.drawings.value ?? [];
  return drawing && others.length === 0 && project?.groups.isGroup(drawing.drawing_id) ? drawing : undefined;
};

/** Removes a group; its items stay. */
const ungroup: Action = {
  id: 'ungroup',
  label: texts.ungroup,
  group: 'arrange',
  keys: ['Mod+Shift+G'],
  places: ['drawing'],
  enabled: (context) => chosen(context) !== undefined,
  run: (context) => context.app.api.delete(`${context.project?.path}/drawings/${chosen(context)?.drawing_id}`),
};

const collapse: Action = {
  id: 'collapse',
  label: texts.collapse,
  group: 'arrange',
  keys: ['Alt+C'],
  places: ['drawing'],
  enabled: (context) => chosen(context) !== undefined,
  on: (context) => context.project?.groups.isCollapsed(chosen(context)?.drawing_id ?? '') === true,
  run: (context) => {
    const { app, project } = context;
    const drawing = chosen(context);
    if (!project || !drawing) return undefined;
    const { drawing_id: id, svg } = drawing;
    const to = withGroup(svg, { group: project.groups.isCollapsed(id) ? 'open' : 'collapsed' });
    return changeItem(app.api, project, { id, from: { svg }, to: { svg: to } });
  },
};

export const groupActions: readonly Action[] = [group, ungroup, collapse];
