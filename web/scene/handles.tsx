/** Handles that resize and rotate the selected drawing. Their size on the screen is the same at any scale. */

import type { Point } from '../geometry/geometry.ts';
import type { Picture } from '../geometry/picture.ts';
import { useApp, useProject } from '../state/app.ts';
import { boxHandles, type Handle, handlePlace } from './resize.ts';

const sizePx = 9;
/** Size for fingers. */
const reachPx = 13;
const turnDistancePx = 26;

export function Handles() {
  const { viewport, tools } = useApp();
  const { selection, pictures, groups, drawn } = useProject();
  const [drawing, ...others] = selection.drawings.value;
  const isAlone = drawing && others.length === 0 && selection.ids.value.size === 1;
  if (!isAlone || drawing.locked || tools.tool.value.name !== 'select') return null;
  if (tools.editing.value === drawing.drawing_id || groups.isCollapsed(drawing.drawing_id)) return null;
  const { scale } = viewport.drawn.value;
  const picture = pictures.of(drawing.svg);
  const [size, reach] = [sizePx / scale, reachPx / scale];
  const { drawing_id: id, rotation } = drawing;
  const { x, y } = drawn.dragged.placed(id, drawing);
  return (
    <g class="handles" data-id={id} transform={`translate(${x} ${y}) rotate(${rotation})`}>
      {handlesOf(picture, turnDistancePx / scale).map(([handle, { x, y }]) => (
        <g key={handle} class={`handle-${handle}`} data-handle={handle} transform={`translate(${x} ${y})`}>
          <circle class="reach" r={reach} />
          {handle === 'turn' ? (
            <circle r={size / 2} />
          ) : (
            <rect x={-size / 2} y={-size / 2} width={size} height={size} rx={size / 5} />
          )}
        </g>
      ))}
    </g>
  );
}

function handlesOf(picture: Picture, turnDistance: number): (readonly [Handle, Point])[] {
  const turn = ['turn', { x: picture.width / 2, y: -turnDistance }] as const;
  if (picture.shape === 'text') return [turn];
  if (picture.shape !== 'line') return [...boxHandles.map((handle) => [handle, handlePlace(handle, picture)] as const), turn];
  const at = ([x, y]: readonly [number, number]): Point => ({ x, y });
  return [['from', at(picture.from)], ['to', at(picture.to)], turn];
}
