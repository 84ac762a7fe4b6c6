/** Shapes, notes and pictures of 1.x files as drawings (SVG), and the style of labels. Source: as `from-1x.ts`. */
import { escapeXml, integerOr, objects, type Raw, textOr } from './raw.ts';

/** Dash patterns by the toolkit's number of a pen style; 1 is none, 0 is solid. */
const dashes: Readonly<Record<number, string>> = { 2: '25, 25', 3: '5, 25', 4: '5, 25, 25', 5: '25, 25, 5, 25, 5' };
/** Family, size, …, weight (75 is bold), italic. */
const defaultFont = 'TypeWriter,10,-1,5,75,0,0,0,0,0';

export function drawingsOf(old: Raw): Raw[] {
  return [
    ...objects(old.ellipses).map((shape) => drawing(shape, ellipse(shape))),
    ...objects(old.rectangles).map((shape) => drawing(shape, rectangle(shape))),
    ...objects(old.notes).map((note) => drawing(note, noteText(note))),
    ...objects(old.images).map((image) => drawing(image, baseName(textOr(image.path, '')))),
  ];
}

/** Converts the font and colour of a label or note to the `style` of a label. */
export function labelStyle({ font, color }: Raw): string {
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

/** The last part of a path, of whatever system. */
export function baseName(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? '';
}

function drawing(old: Raw, svg: string): Raw {
  return { x: integerOr(old.x, 0), y: integerOr(old.y, 0), z: integerOr(old.z, 0), rotation: integerOr(old.rotation, 0), svg };
}

function ellipse(shape: Raw): string {
  const { width, height } = sizeOf(shape);
  const [rx, ry] = [width / 2, height / 2];
  return svg(width, height, `<ellipse cx="${rx}" cy="${ry}" rx="${rx}" ry="${ry}" ${fillAndBorder(shape)}/>`);
}

function rectangle(shape: Raw): string {
  const { width, height } = sizeOf(shape);
  return svg(width, height, `<rect width="${width}" height="${height}" ${fillAndBorder(shape)}/>`);
}

function noteText(note: Raw): string {
  const text = textOr(note.text, '');
  const { family, size, isBold, isItalic } = fontOf(note.font);
  const { rgb, opacity } = colourOf(note.color);
  const style = `${isBold ? ' font-weight="bold"' : ''}${isItalic ? ' font-style="italic"' : ''}`;
  const attributes = `font-family="${escapeXml(family)}" font-size="${size}"${style} fill="${rgb}" fill-opacity="${opacity}"`;
  return svg(Math.ceil(size * Math.max(text.length, 1)), size * 2, `<text ${attributes}>${escapeXml(text)}</text>`);
}

function svg(width: number, height: number, content: string): string {
  return `<svg width="${width}" height="${height}">${content}</svg>`;
}

function sizeOf({ width, height }: Raw): { width: number; height: number } {
  return { width: Math.max(integerOr(width, 100), 1), height: Math.max(integerOr(height, 100), 1) };
}

function fillAndBorder({ color, border_color, border_width, border_style }: Raw): string {
  const fill = `fill="${colourOf(color, '#ffffff').rgb}"`;
  const style = integerOr(border_style, 0);
  if (style === 1) return fill;
  const dash = dashes[style];
  const stroke = `stroke="${colourOf(border_color).rgb}" stroke-width="${integerOr(border_width, 2)}"`;
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
