/** The SVG texts of drawings, in the form that GNS3's clients write and read. */

import { type GroupMarks, groupMark, groupNameMark, type Ink, type TextLook } from '../geometry/picture.ts';
import type { DrawingShape } from '../state/tools.ts';

export interface ShapeSize {
  readonly width: number;
  readonly height: number;
}

const standardInk: Ink = { stroke: '#000000', strokeWidth: 2, fill: '#ffffff', opacity: 0 };
/** The font that GNS3's clients write; the page shows it in its own font. */
const standardFamily = 'TypeWriter';
const standardLook: TextLook = { sizePx: 16 };

interface ShapeLook {
  /** Whether the second end of a line is the upper one. */
  readonly rises?: boolean;
  readonly ink?: Ink;
  /** Radius of the corners of a rectangle, in pixels. */
  readonly radius?: number;
}

export function shapeSvg(
  shape: Exclude<DrawingShape, 'text'>,
  size: ShapeSize,
  { rises = false, ink = standardInk, radius = 0 }: ShapeLook = {},
): string {
  const width = Math.max(1, Math.round(size.width));
  const height = Math.max(1, Math.round(size.height));
  const stroke = `stroke="${ink.stroke ?? '#000000'}" stroke-width="${ink.strokeWidth ?? 2}"${ink.dash ? ` stroke-dasharray="${ink.dash}"` : ''}`;
  const fill = `fill="${ink.fill ?? '#ffffff'}" fill-opacity="${ink.opacity ?? 1}"`;
  const inner = {
    rectangle: `<rect width="${width}" height="${height}"${radius > 0 ? ` rx="${radius}"` : ''} ${fill} ${stroke}/>`,
    ellipse: `<ellipse cx="${width / 2}" cy="${height / 2}" rx="${width / 2}" ry="${height / 2}" ${fill} ${stroke}/>`,
    line: `<line x1="0" y1="${rises ? height : 0}" x2="${width}" y2="${rises ? 0 : height}" ${stroke}/>`,
  }[shape];
  return `<svg width="${width}" height="${height}">${inner}</svg>`;
}

/** The rectangle of a group. Other clients show it as an ordinary rectangle. */
export function groupSvg({ width, height }: ShapeSize): string {
  const ink = 'fill="#64748b" fill-opacity="0.08" stroke="#8494aa" stroke-width="1.5" stroke-dasharray="6 4"';
  return `<svg width="${width}" height="${height}"><rect ${groupMark}="open" width="${width}" height="${height}" rx="14" ${ink}/></svg>`;
}

/** The SVG of a rectangle with the marks of a group; marks that are not given stay. */
export function withGroup(svg: string, { group, name }: GroupMarks): string {
  const { documentElement: root } = new DOMParser().parseFromString(svg, 'image/svg+xml');
  const [rectangle] = root.children;
  if (group) rectangle?.setAttribute(groupMark, group);
  // Control characters are not allowed in XML.
  if (name !== undefined) rectangle?.setAttribute(groupNameMark, name.replace(/[\p{Cc}\p{Cs}\p{Cn}]/gu, ' ').trim());
  return new XMLSerializer().serializeToString(root);
}

export function textSvg(text: string, look: TextLook = standardLook, fill = '#000000'): string {
  const lines = text.split('\n');
  const longest = Math.max(...lines.map((line) => line.length));
  // An estimate: the browser renders the text itself, the size only serves to select it.
  const width = Math.ceil(longest * look.sizePx * 0.6) + 4;
  const height = Math.ceil(lines.length * look.sizePx * 1.25) + 4;
  const more = [
    look.weight === 'bold' ? ' font-weight="bold"' : '',
    look.italic ? ' font-style="italic"' : '',
    look.underline ? ' text-decoration="underline"' : '',
  ].join('');
  return (
    `<svg width="${width}" height="${height}"><text font-family="${look.family ?? standardFamily}" font-size="${look.sizePx * 0.75}"` +
    `${more} fill="${fill}" fill-opacity="1.0">${escapeText(text)}</text></svg>`
  );
}

function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign] ?? sign);
}
