/** Resizes drawings by their handles, also rotated ones: a drawing rotates around its upper left corner. */
import type { Box, Point } from '../geometry/geometry.ts';
import type { Picture } from '../geometry/picture.ts';

export type BoxHandle = 'nw' | 'n' | 'ne' | 'e' | 'se' | 's' | 'sw' | 'w';
export type Handle = BoxHandle | 'from' | 'to' | 'turn';

export const boxHandles: readonly BoxHandle[] = ['nw', 'n', 'ne', 'e', 'se', 's', 'sw', 'w'];

/** The position of a handle, in the coordinates of the drawing. */
export function handlePlace(handle: BoxHandle, { width, height }: { readonly width: number; readonly height: number }): Point {
  const along = (before: string, after: string, size: number) =>
    handle.includes(before) ? 0 : handle.includes(after) ? size : size / 2;
  return { x: along('w', 'e', width), y: along('n', 's', height) };
}

/** The box after a handle moved to a point, both in the coordinates of the drawing; at least one pixel wide and high. */
export function resizedBox(
  size: { readonly width: number; readonly height: number },
  handle: BoxHandle,
  to: Point,
  keepsRatio: boolean,
): Box {
  const span = (isBefore: boolean, isAfter: boolean, old: number, place: number) =>
    isBefore ? old - Math.min(place, old - 1) : isAfter ? Math.max(place, 1) : old;
  let width = span(handle.includes('w'), handle.includes('e'), size.width, to.x);
  let height = span(handle.includes('n'), handle.includes('s'), size.height, to.y);
  if (keepsRatio && handle.length === 2) {
    const factor = Math.max(width / size.width, height / size.height);
    [width, height] = [size.width * factor, size.height * factor];
  }
  return {
    x: handle.includes('w') ? size.width - width : 0,
    y: handle.includes('n') ? size.height - height : 0,
    width: Math.max(1, Math.round(width)),
    height: Math.max(1, Math.round(height)),
  };
}

/** The drawing's SVG in another size: every other attribute stays unchanged. */
export function resizedSvg(
  svg: string,
  picture: Picture,
  { width, height }: { readonly width: number; readonly height: number },
): string {
  const document = new DOMParser().parseFromString(svg, 'image/svg+xml');
  const root = document.documentElement;
  const [only] = root.children;
  if (only && picture.shape === 'rectangle') set(only, { width, height });
  else if (only && picture.shape === 'ellipse') set(only, { cx: width / 2, cy: height / 2, rx: width / 2, ry: height / 2 });
  else if (only?.localName === 'image' && only.hasAttribute('width')) {
    set(only, { width, height, preserveAspectRatio: 'none' });
    root.removeAttribute('viewBox');
  } else if (!root.hasAttribute('viewBox')) set(root, { viewBox: `0 0 ${picture.width} ${picture.height}` });
  if (picture.shape === 'picture') set(root, { preserveAspectRatio: 'none' });
  set(root, { width, height });
  return new XMLSerializer().serializeToString(root);
}

/** A line between two points, and the origin of its box. */
export function lineBetween(svg: string, from: Point, to: Point): { readonly svg: string; readonly corner: Point } {
  const document = new DOMParser().parseFromString(svg, 'image/svg+xml');
  const corner = { x: Math.min(from.x, to.x), y: Math.min(from.y, to.y) };
  const ends = { x1: from.x - corner.x, y1: from.y - corner.y, x2: to.x - corner.x, y2: to.y - corner.y };
  const [line] = document.documentElement.children;
  if (line) set(line, ends);
  set(document.documentElement, {
    width: Math.max(1, Math.abs(ends.x2 - ends.x1)),
    height: Math.max(1, Math.abs(ends.y2 - ends.y1)),
  });
  return { svg: new XMLSerializer().serializeToString(document.documentElement), corner };
}

function set(element: Element, attributes: Readonly<Record<string, string | number>>): void {
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, typeof value === 'number' ? String(Math.round(value * 10) / 10) : value);
  }
}
