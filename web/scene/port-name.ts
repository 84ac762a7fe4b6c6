/** Names of the ends of a link, and the texts that are drawn there. */
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { TextSize } from '../geometry/label-spots.ts';
import { textWidth } from '../geometry/text-width.ts';
import { labelLook } from './label.ts';

/** Size of the names of ports, as in the style sheet. */
const portPx = 10.5;

/** The name of the port at one end. */
export function portName(node: Node, link: Link, end: 0 | 1, form: 'name' | 'short_name' = 'name'): string {
  const { adapter_number, port_number } = link.nodes[end] ?? { adapter_number: 0, port_number: 0 };
  const port = node.ports.find((one) => one.adapter_number === adapter_number && one.port_number === port_number);
  return port?.[form] ?? `${adapter_number}/${port_number}`;
}

/** The text of a user, else the short name of the port. */
export function endText(node: Node, link: Link, end: 0 | 1): string {
  const text = link.nodes[end]?.label?.text;
  const isOwn = text !== undefined && text !== '' && !/^\d+\/\d+$/.test(text);
  return isOwn ? text : portName(node, link, end, 'short_name');
}

export function endTextSize(node: Node, link: Link, end: 0 | 1): TextSize {
  const { style, sizePx } = labelLook(link.nodes[end]?.label?.style);
  const size = style.fontSize === undefined ? portPx : sizePx;
  return { width: textWidth(endText(node, link, end), size), size };
}

/** Whether a user or another client has placed the label of an end. */
export function isEndPlaced(link: Link, end: 0 | 1): boolean {
  const label = link.nodes[end]?.label;
  return typeof label?.x === 'number' && label.y !== undefined;
}
