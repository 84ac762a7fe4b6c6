/** Shapes, notes and pictures of 1.x files as drawings (SVG), and the style of labels. Source: as `from-1x.ts`. */
import type { ForeignMap } from '../../../schema/foreign-map.ts';
import type { drawingKeys } from '../../../schema/project-1x.ts';
import { escapeXml, integerOr, type Raw, textOr } from './raw.ts';

/** Dash patterns by the toolkit's number of a pen style; 1 is none, 0 is solid. */
const dashes: Readonly<Record<number, string>> = { 2: '25, 25', 3: '5, 25', 4: '5, 25, 25', 5: '25, 25, 5, 25, 5' };
/** Family, size, …, weight (75 is bold), italic. */
const defaultFont = 'TypeWriter,10,-1,5,75,0,0,0,0,0';

type OldShape = ForeignMap<keyof typeof drawingKeys>;

/** Converts the shapes of a list of the file. */
export function drawingsOf(list: 'ellipses' | 'rectangles' | 'notes' | 'images', shapes: readonly OldShape[]): Raw[] {
  const make = { ellipses: ellipse, rectangles: rectangle, notes: noteText, images: pictureName }[list];
  return shapes.map((shape) => ({
    x: integerOr(shape.raw('x'), 0),
    y: integerOr(shape.raw('y'), 0),
    z: integerOr(shape.raw('z'), 0),
    rotation: integerOr(shape.raw('rotation'), 0),
    svg: make(shape),
  }));
}

/** Converts the font and colour of a label or note to the `style` of a label. */
export function labelStyle(font: unknown, color: unknown): string {
  const { family, size, isBold, isItalic } = fontOf(font);
  const { rgb, opacity } = colourOf(color);
  const parts = [
    `font-family: ${family};`,
    `font-size: ${size};`,
    ...(isBold ? ['font-weight: bold;'] : []),
    ...(isItalic ? ['font-style: italic;'] : []),
    `fill: ${rgb};`,
    `fill-opacity: ${opacity};`,
  ];
  return parts.join('');
}

const pictureName = (shape: OldShape): string => baseName(textOr(shape.raw('path'), ''));

/** The last part of a path, of whatever system. */
export function baseName(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? '';
}

function ellipse(shape: OldShape): string {
  const { width, height } = sizeOf(shape);
  const [rx, ry] = [width / 2, height / 2];
  return svg(width, height, `<ellipse cx="${rx}" cy="${ry}" rx="${rx}" ry="${ry}" ${fillAndBorder(shape)}/>`);
}

function rectangle(shape: OldShape): string {
  const { width, height } = sizeOf(shape);
  return svg(width, height, `<rect width="${width}" height="${height}" ${fillAndBorder(shape)}/>`);
}

function noteText(note: OldShape): string {
  const text = textOr(note.raw('text'), '');
  const { family, size, isBold, isItalic } = fontOf(note.raw('font'));
  const { rgb, opacity } = colourOf(note.raw('color'));
  const style = `${isBold ? ' font-weight="bold"' : ''}${isItalic ? ' font-style="italic"' : ''}`;
  const attributes = `font-family="${escapeXml(family)}" font-size="${size}"${style} fill="${rgb}" fill-opacity="${opacity}"`;
  return svg(Math.ceil(size * Math.max(text.length, 1)), size * 2, `<text ${attributes}>${escapeXml(text)}</text>`);
}

function svg(width: number, height: number, content: string): string {
  return `<svg width="${width}" height="${height}">${content}</svg>`;
}

function sizeOf(shape: OldShape): { width: number; height: number } {
  const side = (key: 'width' | 'height') => Math.max(integerOr(shape.raw(key), 100), 1);
  return { width: side('width'), height: side('height') };
}

function fillAndBorder(shape: OldShape): string {
  const fill = `fill="${colourOf(shape.raw('color'), '#ffffff').rgb}"`;
  const [color, width] = [shape.raw('border_color'), shape.raw('border_width')];
  const style = integerOr(shape.raw('border_style'), 0);
  if (style === 1) return fill;
  const dash = dashes[style];
  const stroke = `stroke="${colourOf(color).rgb}" stroke-width="${integerOr(width, 2)}"`;
  return `${fill} ${stroke}${dash === undefined ? '' : ` stroke-dasharray="${dash}"`}`;
}

/** `#aarrggbb` carries the opacity in front. */
function colourOf(value: unknown, standard = '#000000'): { rgb: string; opacity: number } {
  const colour = textOr(value, standard);
  if (!/^#(?:[0-9a-f]{2})?[0-9a-f]{6}$/i.test(colour)) return { rgb: standard, opacity: 1 };
  const opacity = colour.length === 9 ? Math.round((Number.parseInt(colour.slice(1, 3), 16) / 255) * 100) / 100 : 1;
  return { rgb: `#${colour.slice(-6)}`, opacity };
}

function fontOf(value: unknown): { family: string; size: number; isBold: boolean; isItalic: boolean } {
  const fields = textOr(value, defaultFont).split(',');
  const size = Number(fields[1]);
  return {
    family: (fields[0] ?? '').replace(/[;"<>&]/g, '') || 'TypeWriter',
    size: Number.isFinite(size) && size > 0 ? size : 10,
    isBold: fields[4] === '75',
    isItalic: fields[5] === '1',
  };
}
