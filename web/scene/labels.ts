/** Moves the labels of nodes and link ends, and resets them to their default positions. */
import type { Link } from '../../src/schema/link.ts';
import type { Label, Node } from '../../src/schema/node.ts';
import type { Point } from '../geometry/geometry.ts';
import type { App } from '../state/app.ts';
import type { LocalState, ProjectState } from '../state/project.ts';
import type { LabelPart } from '../state/selection.ts';
import type { Drag } from './drag-items.ts';
import { labelLook } from './label.ts';
import { type Change, changeItem } from './move-items.ts';

export interface LabelRef {
  /** Id of its node or link. */
  readonly id: string;
  readonly part: LabelPart;
}

/** A movable label: its position, and the request that moves it. */
interface Movable {
  /** Position of its upper left corner, relative to its node. */
  readonly place: Point;
  readonly from: LocalState;
  /** Undefined after its node or link was deleted. */
  readonly changeTo: (place: Point) => Change | undefined;
}

/** Undefined while it is not rendered, or its node is locked. */
function movable(project: ProjectState, { id, part }: LabelRef): Movable | undefined {
  const text = document.querySelector<SVGTextElement>(`[data-id="${id}"] [data-label="${part}"]`);
  const width = text?.getBBox().width ?? 0;
  const node = project.nodes.peek(part === 'name' ? id : (project.links.peek(id)?.nodes[part]?.node_id ?? ''));
  if (!text || width === 0 || !node || node.locked) return undefined;
  const label = part === 'name' ? node.label : project.links.peek(id)?.nodes[part]?.label;
  const origin = part === 'name' ? { x: 0, y: 0 } : node;
  const [x, y] = [Number(text.getAttribute('x')), Number(text.getAttribute('y'))];
  const from = relabelled(project, { id, part }, {})?.from ?? {};
  const before = { middle: 0.5, end: 1 }[text.getAttribute('text-anchor') ?? ''] ?? 0;
  const left = x - width * before;
  return {
    place: { x: left - origin.x, y: y - labelLook(label?.style).sizePx - origin.y },
    from,
    changeTo: (to) => {
      const change = relabelled(project, { id, part }, { x: Math.round(to.x), y: Math.round(to.y) });
      return change && { ...change, from };
    },
  };
}

/** A link end without its own position has no key for it, so the key is removed first. */
function relabelled(project: ProjectState, { id, part }: LabelRef, update: Partial<Label>): Change | undefined {
  if (part === 'name') {
    const label = project.nodes.peek(id)?.label;
    return label && { id, from: { label }, to: { label: { ...label, ...update } } };
  }
  const nodes = project.links.peek(id)?.nodes;
  if (!nodes) return undefined;
  const ends = nodes.map((end, place) => {
    if (place !== part) return end;
    const { x, y, ...kept } = end.label ?? { text: `${end.adapter_number}/${end.port_number}` };
    return { ...end, label: { ...kept, ...update } };
  });
  // Sends this end only: another user may be moving the label of the other end.
  return { id, from: { nodes }, to: { nodes: ends }, body: { nodes: ends.filter((_, place) => place === part) } };
}

export function dragLabel(app: App, project: ProjectState, ref: LabelRef, start: PointerEvent): Drag {
  const label = movable(project, ref);
  const from = app.viewport.toScene(start.clientX, start.clientY);
  let change: Change | undefined;
  return {
    move: (now) => {
      const at = app.viewport.toScene(now.clientX, now.clientY);
      change = label?.changeTo({ x: label.place.x + at.x - from.x, y: label.place.y + at.y - from.y });
      if (change) project.hold(ref.id, change.to);
    },
    end: () => {
      const made = change;
      if (made) void app.toasts.attempt(() => changeItem(app.api, project, made));
    },
    cancel: () => {
      if (!label) return;
      project.hold(ref.id, label.from);
      project.release(ref.id);
    },
  };
}

/** Ignores a label that cannot be moved. @throws ApiError */
export async function nudgeLabel(app: App, project: ProjectState, ref: LabelRef, { x, y }: Point): Promise<void> {
  const label = movable(project, ref);
  const change = label?.changeTo({ x: label.place.x + x, y: label.place.y + y });
  if (change) await changeItem(app.api, project, change);
}

/** Labels of these nodes and links that a user has moved. */
export function placedLabels(nodes: readonly Node[], links: readonly Link[]): LabelRef[] {
  const isPlaced = (label: Label | undefined) => typeof label?.x === 'number';
  return [
    ...nodes
      .filter((node) => isPlaced(node.label) || (node.label.y ?? 0) !== standardTop(node))
      .map(({ node_id }): LabelRef => ({ id: node_id, part: 'name' })),
    ...links.flatMap(({ link_id, nodes: ends }) =>
      ends.flatMap(({ label }, part): LabelRef[] => (isPlaced(label) ? [{ id: link_id, part: part as 0 | 1 }] : [])),
    ),
  ];
}

/** @throws ApiError the first refusal */
export async function resetLabels(app: App, project: ProjectState, labels: readonly LabelRef[]): Promise<void> {
  for (const ref of labels) {
    const node = project.nodes.peek(ref.id);
    const change = relabelled(project, ref, node ? { x: null, y: standardTop(node) } : {});
    if (change) await changeItem(app.api, project, change);
  }
}

/** Position of a new node's label, as the server computes it: halves round to even. */
export function standardTop({ height }: Pick<Node, 'height'>): number {
  const above = height / 2 + 10;
  const rounded = Math.round(above);
  return -(above % 1 === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded);
}
