/** Selects the items that are drawn with names and marks: the others are out of sight, or too small for them. */
import type { Label, Node } from '../../src/schema/node.ts';
import { around, type Box, nodeBox, overlaps } from '../geometry/geometry.ts';
import type { Viewport } from '../geometry/viewport.ts';

/** Width of a character, at least as wide as most. */
const charPx = 9;

/** `boxes`: of an item and its labels. Inside a signal it runs again when another part of the scene is drawn. */
export function isDetailed({ detailed }: Viewport, boxes: () => readonly Box[]): boolean {
  const part = detailed.value;
  if (!part) return false;
  const box = around(boxes());
  return box !== undefined && overlaps(part, box);
}

/** Around a node and a label whose place is relative to it: the label may be anywhere. */
export function labelledBoxes(node: Node, label: Label | undefined): readonly Box[] {
  const box = nodeBox(node);
  if (typeof label?.x !== 'number') return [box];
  const [width, height] = [(label.text ?? '').length * charPx, 2 * charPx];
  return [box, { x: box.x + label.x, y: box.y + (label.y ?? 0), width, height }];
}
