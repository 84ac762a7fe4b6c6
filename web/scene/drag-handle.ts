/** Dragging a handle of a drawing: its size, the ends of a line, or its rotation. */
import type { Drawing } from '../../src/schema/drawing.ts';
import { type Point, toLocal, toScene } from '../geometry/geometry.ts';
import type { Picture } from '../geometry/picture.ts';
import type { App } from '../state/app.ts';
import type { LocalState, ProjectState } from '../state/project.ts';
import type { Drag } from './drag-items.ts';
import { changeItem } from './move-items.ts';
import { type BoxHandle, type Handle, handlePlace, lineBetween, resizedBox, resizedSvg } from './resize.ts';

/** Step of a rotation with Shift, in degrees. */
const turnStep = 15;

export function dragHandle(
  app: App,
  project: ProjectState,
  handle: Handle,
  { drawing, start }: { drawing: Drawing; start: PointerEvent },
): Drag {
  const { drawing_id: id, svg, x, y, rotation } = drawing;
  const picture = project.pictures.of(svg);
  const from = app.viewport.toScene(start.clientX, start.clientY);
  const before: LocalState = handle === 'turn' ? { rotation } : { svg, x, y };
  const changeOf = changeBy(handle, { drawing, picture, from });
  let change: LocalState | undefined;
  let frame = 0;
  const show = () => {
    frame = 0;
    if (change) project.hold(id, change);
  };
  return {
    move: (now) => {
      change = changeOf(app.viewport.toScene(now.clientX, now.clientY), now.shiftKey);
      frame ||= requestAnimationFrame(show);
    },
    end: () => {
      cancelAnimationFrame(frame);
      const to = change;
      if (to) void app.toasts.attempt(() => changeItem(app.api, project, { id, from: before, to }));
    },
    cancel: () => {
      cancelAnimationFrame(frame);
      project.hold(id, before);
      project.release(id);
    },
  };
}

interface Grip {
  readonly drawing: Drawing;
  readonly picture: Picture;
  /** Start of the drag, in the scene. */
  readonly from: Point;
}

/** The drawing after its handle is dragged to a point of the scene. */
function changeBy(handle: Handle, grip: Grip): (at: Point, hasShift: boolean) => LocalState {
  if (handle === 'turn') return turning(grip);
  if (handle === 'from' || handle === 'to') return pulling(handle, grip);
  return resizing(handle, grip);
}

function turning({ drawing, from }: Grip) {
  const angle = (to: Point) => (Math.atan2(to.y - drawing.y, to.x - drawing.x) * 180) / Math.PI;
  const first = angle(from);
  return (at: Point, hasShift: boolean): LocalState => {
    const step = hasShift ? turnStep : 1;
    const rotation = Math.round((drawing.rotation + angle(at) - first) / step) * step;
    return { rotation: ((rotation % 360) + 360) % 360 };
  };
}

function pulling(handle: 'from' | 'to', { drawing, picture, from }: Grip) {
  const [one, other] = picture.shape === 'line' ? [picture.from, picture.to] : [[0, 0] as const, [0, 0] as const];
  const [fixed, moved] = handle === 'from' ? [other, one] : [one, other];
  const grip = toLocal(from, drawing);
  return (at: Point): LocalState => {
    const local = toLocal(at, drawing);
    const pulled = { x: Math.round(moved[0] + local.x - grip.x), y: Math.round(moved[1] + local.y - grip.y) };
    const still = { x: fixed[0], y: fixed[1] };
    const { svg, corner } = handle === 'from' ? lineBetween(drawing.svg, pulled, still) : lineBetween(drawing.svg, still, pulled);
    return { svg, ...rounded(toScene(corner, drawing)) };
  };
}

/** Pictures keep their aspect ratio at their corners, and shapes do with Shift; otherwise the other way round. */
function resizing(handle: BoxHandle, { drawing, picture, from }: Grip) {
  const grip = toLocal(from, drawing);
  const place = handlePlace(handle, picture);
  return (at: Point, hasShift: boolean): LocalState => {
    const local = toLocal(at, drawing);
    const to = { x: place.x + local.x - grip.x, y: place.y + local.y - grip.y };
    const box = resizedBox(picture, handle, to, hasShift !== (picture.shape === 'picture'));
    return { svg: resizedSvg(drawing.svg, picture, box), ...rounded(toScene(box, drawing)) };
  };
}

const rounded = ({ x, y }: Point): Point => ({ x: Math.round(x), y: Math.round(y) });
