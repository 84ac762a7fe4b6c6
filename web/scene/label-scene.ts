/** The labels of the canvas and all that they must not touch, read from the project. */
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { DetourLink } from '../geometry/detours.ts';
import { type Box, toScene } from '../geometry/geometry.ts';
import type { LabelledLink, LabelledNode, LabelScene } from '../geometry/label-places.ts';
import { textBox } from '../geometry/label-spots.ts';
import type { Picture } from '../geometry/picture.ts';
import { textWidth } from '../geometry/text-width.ts';
import type { CollapsedGroup } from '../state/groups.ts';
import type { OverlayMarks } from '../state/overlay.ts';
import { symbolBox } from '../ui/device-symbol.tsx';
import { labelLook } from './label.ts';
import { badgeOf } from './link-badge.tsx';
import { linkEnd, linkPath } from './link-path.ts';
import { givenNameBox, givenNamePlace, nameTextSize } from './node-name.ts';
import { endTextSize, isEndPlaced } from './port-name.ts';

export interface DrawnProject {
  readonly nodes: readonly Node[];
  readonly links: readonly Link[];
  readonly drawings: readonly DrawnPicture[];
  readonly bulges: ReadonlyMap<string, number>;
  /** Marks of an overlay in the place of the states of links. */
  readonly marks: OverlayMarks | undefined;
  /** Collapsed groups by the ids of what they hide. */
  readonly hidden: ReadonlyMap<string, CollapsedGroup>;
  readonly isFlat: boolean;
  /** Size of names. */
  readonly namePx: number;
  readonly hasPortNames: boolean;
}

interface DrawnPicture {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly rotation: number;
  readonly picture: Picture;
}

export function labelScene(project: DrawnProject): LabelScene {
  const shown = project.nodes.filter(({ node_id }) => !project.hidden.has(node_id));
  const groups = new Map([...project.hidden.values()].map((group) => [group.id, group]));
  return {
    nodes: [
      ...shown.map((node) => nodeOf(node, project)),
      ...[...groups.values()].map(({ id, box }) => ({ id, symbol: box, name: undefined })),
    ],
    links: linksOf(project),
    fixed: [...shown.flatMap((node) => givenName(node, project.namePx)), ...givenEnds(project), ...drawnTexts(project)],
  };
}

/** Nodes that links go around, and the links. */
export function detourScene(project: Pick<DrawnProject, 'nodes' | 'links' | 'hidden' | 'isFlat'> & Bundles): DetourScene {
  const { nodes, links, hidden, isFlat, bundles } = project;
  const shown = nodes.filter(({ node_id }) => !hidden.has(node_id)).map((node) => [node.node_id, boxOf(node, isFlat)] as const);
  const idOf = (id: string) => hidden.get(id)?.id ?? id;
  return {
    nodes: new Map([...shown, ...Array.from(hidden.values(), ({ id, box }) => [id, box] as const)]),
    links: links.flatMap(({ link_id: id, nodes: [one, other] }): DetourLink[] =>
      one && other ? [{ id, nodes: [idOf(one.node_id), idOf(other.node_id)], bulge: bundles.get(id) ?? 0 }] : [],
    ),
  };
}

interface Bundles {
  readonly bundles: ReadonlyMap<string, number>;
}

interface DetourScene {
  readonly nodes: ReadonlyMap<string, Box>;
  readonly links: readonly DetourLink[];
}

function nodeOf(node: Node, { isFlat, namePx }: DrawnProject): LabelledNode {
  const name = givenNamePlace(node) ? undefined : nameTextSize(node, namePx);
  return { id: node.node_id, symbol: boxOf(node, isFlat), name };
}

/** The drawn symbol, in the scene. */
function boxOf(node: Node, isFlat: boolean): Box {
  const { x, y, width, height } = symbolBox(node, isFlat);
  return { x: node.x + x, y: node.y + y, width, height };
}

function linksOf(project: DrawnProject): LabelledLink[] {
  const { links, bulges, marks, hidden, isFlat, hasPortNames } = project;
  const nodes = new Map(project.nodes.map((node) => [node.node_id, node]));
  return links.flatMap((link): LabelledLink[] => {
    const [one, other] = link.nodes.map(({ node_id }) => nodes.get(node_id));
    if (!one || !other) return [];
    const ends = [one, other].map((node) => linkEnd(node, symbolBox(node, isFlat), hidden.get(node.node_id)));
    const [a, b] = ends;
    if (!a || !b || (a.id === b.id && a.id !== one.node_id)) return [];
    const { curve } = linkPath([a, b], bulges.get(link.link_id));
    const sizeOf = (node: Node, end: 0 | 1) => (hasPortNames && !isEndPlaced(link, end) ? endTextSize(node, link, end) : undefined);
    return [
      {
        id: link.link_id,
        nodes: [a.id, b.id],
        curve,
        symbols: [a.symbol, b.symbol],
        ports: [sizeOf(one, 0), sizeOf(other, 1)],
        valueWidth: badgeOf(link, curve, marks?.get(link.link_id)).width,
      },
    ];
  });
}

function givenName(node: Node, namePx: number): Box[] {
  const at = givenNamePlace(node);
  return at ? [givenNameBox(node, at, nameTextSize(node, namePx))] : [];
}

/** Labels of ends that users placed. */
function givenEnds({ nodes, links, hasPortNames }: DrawnProject): Box[] {
  if (!hasPortNames) return [];
  const byId = new Map(nodes.map((node) => [node.node_id, node]));
  return links.flatMap((link) =>
    ([0, 1] as const).flatMap((end): Box[] => {
      const node = byId.get(link.nodes[end]?.node_id ?? '');
      if (!node || !isEndPlaced(link, end)) return [];
      const { x, y } = link.nodes[end]?.label ?? {};
      const top = node.y + (y ?? 0) + labelLook(link.nodes[end]?.label?.style).sizePx;
      return [textBox({ x: node.x + (x ?? 0), y: top, anchor: 'start' }, endTextSize(node, link, end))];
    }),
  );
}

/** Texts of drawings that are not turned. */
function drawnTexts({ drawings, hidden }: DrawnProject): Box[] {
  return drawings.flatMap(({ id, picture, ...at }): Box[] => {
    if (picture.shape !== 'text' || hidden.has(id) || at.rotation !== 0) return [];
    return picture.lines.map(({ text, y }) => {
      const size = picture.look.sizePx;
      return textBox({ ...toScene({ x: 0, y }, at), anchor: 'start' }, { width: textWidth(text, size), size });
    });
  });
}
