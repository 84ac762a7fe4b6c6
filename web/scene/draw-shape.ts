/** Draws a shape: as large as the drag, or of standard size on a click. */

import { type Box, boxBetween } from '../geometry/geometry.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import type { DrawingShape } from '../state/tools.ts';
import { texts } from '../texts.ts';
import type { Drag } from './drag-items.ts';
import { shapeSvg, textSvg } from './shape-svg.ts';

const standard = { width: 200, height: 100 };

export function drawShape(app: App, project: ProjectState, shape: DrawingShape, start: PointerEvent): Drag {
  const { viewport, sketch, tools } = app;
  const from = viewport.toScene(start.clientX, start.clientY);
  let to = from;
  const finish = () => {
    sketch.value = {};
    tools.tool.value = { name: 'select' };
  };
  return {
    move: (now) => {
      to = viewport.toScene(now.clientX, now.clientY);
      sketch.value = { box: boxBetween(from, to) };
    },
    cancel: finish,
    end: () => {
      finish();
      const isClick = from === to;
      const box = isClick ? { ...from, ...standard } : boxBetween(from, to);
      // A line drawn upwards rises.
      const rises = (to.x - from.x) * (to.y - from.y) < 0;
      void app.toasts.attempt(async () => {
        const id = await create(app, project, shape === 'text' ? textSvg(texts.newText) : shapeSvg(shape, box, { rises }), box);
        if (shape === 'text' && project.selection.has(id)) tools.editing.value = id;
      });
    },
  };
}

async function create(app: App, project: ProjectState, svg: string, box: Box): Promise<string> {
  const select = project.selection.whenMade();
  const body = { svg, x: Math.round(box.x), y: Math.round(box.y), z: 0 };
  const made = await app.api.post<{ drawing_id: string }>(`${project.path}/drawings`, body);
  select([made.drawing_id]);
  return made.drawing_id;
}
