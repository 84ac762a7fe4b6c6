/** Points and boxes of the scene. Independent of the DOM. */
import type { Node } from '../../src/schema/node.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export const centreOf = ({ x, y, width, height }: Box): Point => ({ x: x + width / 2, y: y + height / 2 });

export function nodeBox({ x, y, width, height }: Node): Box {
  return { x, y, width, height };
}

export function around(boxes: readonly Box[]): Box | undefined {
  if (boxes.length === 0) return undefined;
  const left = Math.min(...boxes.map(({ x }) => x));
  const top = Math.min(...boxes.map(({ y }) => y));
  const right = Math.max(...boxes.map(({ x, width }) => x + width));
  const bottom = Math.max(...boxes.map(({ y, height }) => y + height));
  return { x: left, y: top, width: right - left, height: bottom - top };
}

export function boxBetween(one: Point, other: Point): Box {
  return {
    x: Math.min(one.x, other.x),
    y: Math.min(one.y, other.y),
    width: Math.abs(one.x - other.x),
    height: Math.abs(one.y - other.y),
  };
}

export function overlaps(one: Box, other: Box): boolean {
  return (
    one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height && other.y < one.y + one.height
  );
}

/** Snaps an item so that its centre lies on the grid, as GNS3's clients do. */
export function snapped({ x, y }: Point, size: { readonly width: number; readonly height: number }, gridPx: number): Point {
  if (gridPx <= 1) return { x: Math.round(x), y: Math.round(y) };
  const snap = (value: number, length: number) => Math.round(Math.round((value + length / 2) / gridPx) * gridPx - length / 2);
  return { x: snap(x, size.width), y: snap(y, size.height) };
}

/** Distance from the centre of a box to its border, in a direction. */
export function reach({ width, height }: Pick<Box, 'width' | 'height'>, dx: number, dy: number): number {
  const length = Math.hypot(dx, dy) || 1;
  const [cos, sin] = [Math.abs(dx / length), Math.abs(dy / length)];
  return Math.min(cos > 0 ? width / 2 / cos : Number.POSITIVE_INFINITY, sin > 0 ? height / 2 / sin : Number.POSITIVE_INFINITY);
}

/** Position of a drawing, which rotates around its upper left corner. */
export interface Placement extends Point {
  /** Degrees. */
  readonly rotation: number;
}

/** Converts from the scene to the coordinates of a drawing. */
export function toLocal(point: Point, { x, y, rotation }: Placement): Point {
  return turned({ x: point.x - x, y: point.y - y }, -rotation);
}

export function toScene(point: Point, { x, y, rotation }: Placement): Point {
  const by = turned(point, rotation);
  return { x: x + by.x, y: y + by.y };
}

function turned({ x, y }: Point, degrees: number): Point {
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  return { x: x * cos - y * sin, y: x * sin + y * cos };
}
