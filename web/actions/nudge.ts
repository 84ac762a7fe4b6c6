/** Arrow keys move the selection, or scroll the canvas when nothing is selected. */
import { nudgeLabel } from '../scene/labels.ts';
import { moveItems } from '../scene/move-items.ts';
import { texts } from '../texts.ts';
import { type Action, inProject } from './action.ts';

const directions = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] } as const;
const lookStepPx = 80;
const finePx = 10;
const labelPx = 5;

const nudge = (name: keyof typeof directions, key: string): Action => ({
  id: `nudge-${name}`,
  label: texts.nudge[name],
  group: 'arrange',
  keys: [key],
  enabled: inProject,
  run: ({ app, project }) => {
    if (!project) return undefined;
    const [dx, dy] = directions[name];
    const [id = ''] = project.selection.ids.peek();
    const part = project.selection.labelOf(id);
    if (part !== undefined) return nudgeLabel(app, project, { id, part }, { x: dx * labelPx, y: dy * labelPx });
    const chosen = [...project.groups.withMembers(project.selection.ids.peek())].flatMap((id) => {
      const item = project.findItem(id);
      return item && !item.object.locked ? [{ id, object: item.object }] : [];
    });
    if (chosen.length === 0) return app.viewport.pan(-dx * lookStepPx, -dy * lookStepPx);
    const settings = project.project.peek();
    const step = settings?.snap_to_grid ? Math.max(1, settings.grid_size) : finePx;
    const moves = chosen.map(({ id, object: { x, y } }) => ({ id, from: { x, y }, to: { x: x + dx * step, y: y + dy * step } }));
    return moveItems(project, moves);
  },
});

export const nudgeActions: readonly Action[] = [
  nudge('left', 'ArrowLeft'),
  nudge('right', 'ArrowRight'),
  nudge('up', 'ArrowUp'),
  nudge('down', 'ArrowDown'),
];
