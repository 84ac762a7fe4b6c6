/** The line of a link between the centres of two items: straight, or a curve with one control point. Independent of the DOM. */
import type { Box, Point } from './geometry.ts';

export interface Curve {
  readonly from: Point;
  readonly to: Point;
  /** Undefined: the line is straight. */
  readonly control: Point | undefined;
}

/** Straight parts that stand for a curve, where boxes are compared with it. */
const parts = 10;

/** `bulgePx`: distance of the middle of the curve from the straight line, to its right as seen from `from`. */
export function curveBetween(from: Point, to: Point, bulgePx: number): Curve {
  if (bulgePx === 0) return { from, to, control: undefined };
  const { x, y } = aside(from, to);
  return { from, to, control: { x: (from.x + to.x) / 2 + x * bulgePx * 2, y: (from.y + to.y) / 2 + y * bulgePx * 2 } };
}

/** Unit normal of the straight line: points to the right, seen from the first point to the second. */
export function aside(from: Point, to: Point): Point {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  return { x: -dy / length, y: dx / length };
}

/** `part`: 0 is the beginning, 1 the end. */
export function pointOn({ from, to, control }: Curve, part: number): Point {
  if (!control) return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
  const [a, b, c] = [(1 - part) ** 2, 2 * part * (1 - part), part ** 2];
  return { x: a * from.x + b * control.x + c * to.x, y: a * from.y + b * control.y + c * to.y };
}

/** Unit normal at a point of the curve: points to its right. */
export function asideOn({ from, to, control }: Curve, part: number): Point {
  if (!control) return aside(from, to);
  const towards = (a: Point, b: Point) => ({ x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part });
  return aside(towards(from, control), towards(control, to));
}

/** Ends of the straight parts that stand for the curve. */
export function pointsOf(curve: Curve): readonly Point[] {
  if (!curve.control) return [curve.from, curve.to];
  return Array.from({ length: parts + 1 }, (_, place) => pointOn(curve, place / parts));
}

export function pathOf({ from, to, control }: Curve): string {
  return control ? `M${from.x} ${from.y}Q${control.x} ${control.y} ${to.x} ${to.y}` : `M${from.x} ${from.y}L${to.x} ${to.y}`;
}

/** Whether a straight line from one point to another touches a box. A scene asks this a million times: nothing is allocated. */
export function crosses({ x, y, width, height }: Box, from: Point, to: Point): boolean {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  let enter = 0;
  let leave = 1;
  if (dx !== 0) {
    const left = (x - from.x) / dx;
    const right = (x + width - from.x) / dx;
    enter = Math.max(enter, Math.min(left, right));
    leave = Math.min(leave, Math.max(left, right));
  } else if (from.x < x || from.x > x + width) return false;
  if (dy !== 0) {
    const top = (y - from.y) / dy;
    const bottom = (y + height - from.y) / dy;
    enter = Math.max(enter, Math.min(top, bottom));
    leave = Math.min(leave, Math.max(top, bottom));
  } else if (from.y < y || from.y > y + height) return false;
  return enter <= leave;
}
