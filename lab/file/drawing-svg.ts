/** Draws the texts and shapes that a lab file describes as SVG. */

import type { LabDrawing } from './lab.ts';
import { LabError, type Place } from './lab-error.ts';
import type { DrawingSpec } from './lab-schema.ts';

/** Reads a drawing. @throws LabError unless exactly one picture is given */
export function readDrawing(spec: DrawingSpec, place?: Place): LabDrawing {
  const { x = 0, y = 0, rotation = 0, locked = false } = spec;
  // Shapes lie behind nodes, texts and pictures above them.
  const { z = spec.rectangle || spec.ellipse ? 0 : 2 } = spec;
  const pictures = [spec.svg, textSvg(spec), shapeSvg(spec, 'rectangle'), shapeSvg(spec, 'ellipse')].filter(
    (one) => one !== undefined,
  );
  const [svg] = pictures;
  if (svg === undefined || pictures.length > 1) {
    throw new LabError('a drawing has exactly one of svg, text, rectangle and ellipse', place);
  }
  return { svg, x, y, z, rotation, locked };
}

function textSvg({ text, font_size = 10, color = 'black' }: DrawingSpec): string | undefined {
  if (text === undefined) return undefined;
  const lines = text.trimEnd().split('\n');
  const width = Math.ceil(Math.max(...lines.map((line) => line.length)) * font_size * 0.8) + 4;
  const height = Math.ceil(lines.length * font_size * 1.6) + 4;
  const style = `font-family="TypeWriter" font-size="${font_size}" font-weight="bold" fill="${color}" fill-opacity="1.0"`;
  return `<svg height="${height}" width="${width}"><text ${style}>${escapeXml(text.trimEnd())}</text></svg>`;
}

function shapeSvg(spec: DrawingSpec, shape: 'rectangle' | 'ellipse'): string | undefined {
  const [width, height] = spec[shape] ?? [];
  if (width === undefined || height === undefined) return undefined;
  const paint = `fill="${spec.fill ?? 'white'}" fill-opacity="1.0" stroke="${spec.color ?? 'black'}" stroke-width="2"`;
  const size =
    shape === 'rectangle'
      ? `<rect width="${width}" height="${height}" ${paint} />`
      : `<ellipse cx="${width / 2}" cy="${height / 2}" rx="${width / 2}" ry="${height / 2}" ${paint} />`;
  return `<svg height="${height}" width="${width}">${size}</svg>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
