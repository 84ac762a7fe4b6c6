/** The name of a node as the canvas draws it, and the place that a user gave it. */
import type { Node } from '../../src/schema/node.ts';
import type { Box } from '../geometry/geometry.ts';
import { type TextPlace, type TextSize, textBox } from '../geometry/label-spots.ts';
import { textWidth } from '../geometry/text-width.ts';
import { labelLook } from './label.ts';
import { standardTop } from './labels.ts';
import { shortName } from './name-size.ts';

export function nameText({ label, name }: Node): string {
  return shortName((label.text || name).replace(/<br\s*\/?>/g, ' '));
}

/** `namePx`: size of names without a style of their own. */
export function nameTextSize(node: Node, namePx: number): TextSize {
  const { style, sizePx } = labelLook(node.label.style);
  const size = style.fontSize === undefined ? namePx : sizePx;
  return { width: textWidth(nameText(node), size), size };
}

/** Place that a user or another client gave the name, relative to the node; undefined: the canvas chooses one. */
export function givenNamePlace(node: Node): TextPlace | undefined {
  const { label, width } = node;
  const isCentred = label.x === null || label.x === undefined;
  const top = label.y ?? standardTop(node);
  if (isCentred && top === standardTop(node) && !label.rotation) return undefined;
  return {
    x: isCentred ? width / 2 : (label.x ?? 0),
    y: top + labelLook(label.style).sizePx,
    anchor: isCentred ? 'middle' : 'start',
  };
}

/** The box of a name that a user placed, in the scene. A rotated one takes the box around it. */
export function givenNameBox(node: Node, at: TextPlace, size: TextSize): Box {
  const box = textBox({ ...at, x: node.x + at.x, y: node.y + at.y }, size);
  const degrees = node.label.rotation ?? 0;
  if (degrees === 0) return box;
  const reach = Math.hypot(box.width, box.height);
  return { x: box.x - reach, y: box.y - reach, width: 2 * reach, height: 2 * reach };
}
