/** A link on the canvas: its line, the names of its two ports, and a pill with its state. */
import { computed, useComputed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import { type PortSpot, portPlace, type TextPlace, valuePlace } from '../geometry/label-spots.ts';
import { useApp, useProject } from '../state/app.ts';
import type { CollapsedGroup } from '../state/groups.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { symbolBox, useFlatSymbols } from '../ui/device-symbol.tsx';
import { isDetailed, labelledBoxes } from './detail.ts';
import { labelLook } from './label.ts';
import { badgeOf, LinkBadge, linkStates, marksOf } from './link-badge.tsx';
import { LinkFlow, LinkTitle } from './link-flow.tsx';
import { type LinkEnd, type LinkPath, linkEnd, linkPath } from './link-path.ts';
import { endText, endTextSize, isEndPlaced, portName } from './port-name.ts';

export function LinkView({ id }: { readonly id: string }) {
  const { links, nodes, drawn, selection, work, traffic } = useProject();
  const selected = useComputed(() => selection.ids.value.has(id));
  const label = useComputed(() => selection.labelOf(id)).value;
  const failure = useComputed(() => work.failures.value.get(id)).value;
  const isKernel = useComputed(() => traffic.isKernelPath(id)).value;
  const isFlat = useFlatSymbols();
  const link = links.signalOf(id)?.value;
  const [a, b] = link?.nodes ?? [];
  const one = a && nodes.find(a.node_id);
  const other = b && nodes.find(b.node_id);
  const bulge = useComputed(() => drawn.bulges.value.get(id)).value;
  const spots = useComputed(() => drawn.placement.value.links.get(id)).value;
  const mark = useComputed(() => drawn.overlay.value?.links.value.get(id)).value;
  const inGroup = useGroupOf(a?.node_id);
  const otherInGroup = useGroupOf(b?.node_id);
  const inDetail = useDetail(id);
  if (!link || !one || !other || (inGroup && inGroup.id === otherInGroup?.id)) return null;
  const ends = [linkEnd(one, symbolBox(one, isFlat), inGroup), linkEnd(other, symbolBox(other, isFlat), otherInGroup)] as const;
  const path = linkPath(ends, bulge);
  const hasValues = inDetail && (!spots?.value?.isShort || selected.value);
  const badge = hasValues ? badgeOf(link, path.curve, mark) : marksOf(link, mark);
  const end = { link, path, symbols: [ends[0].symbol, ends[1].symbol] as const };
  return (
    <g
      class={`link ${mark ? `look-${mark.look}` : linkStates(link).join(' ')}${isKernel ? ' kernel' : ''}${selected.value ? ' selected' : ''}`}
      data-id={id}
      data-kind="link"
    >
      <LinkTitle
        id={id}
        title={`${linkTitle(link, [one, other])}${isKernel ? `, ${texts.kernelPath}` : ''}`}
        names={[one.name, other.name]}
      />
      <path class="hit" d={path.d} />
      <path class="line" d={path.d} style={mark ? {} : lineStyle(link)} />
      <LinkFlow id={id} path={path} />
      {inDetail && <EndView {...end} node={one} end={0} spot={spots?.ports[0]} selected={label === 0} />}
      {inDetail && <EndView {...end} node={other} end={1} spot={spots?.ports[1]} selected={label === 1} />}
      <LinkBadge
        badge={badge}
        at={spots?.value ? valuePlace(path.curve, spots.value, badge.width) : path.middle}
        failure={failure}
      />
    </g>
  );
}

/** Whether its ports are named. */
function useDetail(id: string): boolean {
  const { viewport } = useApp();
  const { links, nodes, groups } = useProject();
  const boxes = () =>
    (links.signalOf(id)?.value?.nodes ?? []).flatMap(({ node_id, label }) => {
      const group = groups.hidden.value.get(node_id);
      const node = nodes.find(node_id);
      return [...(group ? [group.box] : []), ...(node ? labelledBoxes(node, label) : [])];
    });
  return useComputed(() => isDetailed(viewport, boxes)).value;
}

/** The collapsed group of a node. A link may come to another node: a computed signal would keep the group of the one before. */
function useGroupOf(nodeId = ''): CollapsedGroup | undefined {
  const { groups } = useProject();
  return useMemo(() => computed(() => groups.hidden.value.get(nodeId)), [groups, nodeId]).value;
}

export function linkTitle(link: Link, [one, other]: readonly [Node, Node]): string {
  const [a, b] = [portName(one, link, 0), portName(other, link, 1)];
  const states = linkStates(link).map((state) => texts.linkState[state]);
  return [`${one.name} ${a} — ${other.name} ${b}`, ...states].join(', ');
}

/** Names of the two nodes, first to second. */
export function endNames(project: ProjectState, link: Link): [string, string] {
  const name = (end: 0 | 1) => project.nodes.find(link.nodes[end]?.node_id ?? '')?.name ?? '?';
  return [name(0), name(1)];
}

interface EndProps {
  readonly node: Node;
  readonly link: Link;
  readonly end: 0 | 1;
  readonly path: LinkPath;
  readonly symbols: readonly [LinkEnd['symbol'], LinkEnd['symbol']];
  readonly spot: PortSpot | undefined;
  /** The label of this end is selected. */
  readonly selected: boolean;
}

/** A label that a user moved has a position relative to its node; another lies where the line leaves the node. */
function EndView({ node, link, end, path, symbols, spot, selected }: EndProps) {
  const at = path.ends[end];
  const { style, sizePx } = labelLook(link.nodes[end]?.label?.style);
  const { x = 0, y = 0 } = link.nodes[end]?.label ?? {};
  const place: TextPlace = isEndPlaced(link, end)
    ? { x: node.x + (x ?? 0), y: node.y + y + sizePx, anchor: 'start' }
    : spot
      ? portPlace({ curve: path.curve, symbols }, end, spot, endTextSize(node, link, end))
      : { x: at.x, y: at.y - 5, anchor: 'middle' };
  return (
    <g class={spot?.isHidden ? 'end crowded' : 'end'}>
      <circle class={`dot ${node.status}`} cx={at.x} cy={at.y} r={3.5} />
      <text
        class={selected ? 'label picked' : 'label'}
        data-label={end}
        x={place.x}
        y={place.y}
        text-anchor={place.anchor}
        style={style}
      >
        {endText(node, link, end)}
      </text>
    </g>
  );
}

/** Line styles of GNS3's clients: 1 solid, 2 dashes, 3 dots, 4 and 5 both. */
const dashes: Readonly<Record<number, string>> = { 2: '8 5', 3: '2 4', 4: '8 4 2 4', 5: '8 4 2 4 2 4' };

function lineStyle({ link_style: { color, width, type } }: Link) {
  return {
    ...(typeof color === 'string' && /^#[0-9a-f]{6}$/i.test(color) && color !== '#000000' && { stroke: color }),
    ...(typeof width === 'number' && width > 0 && width < 20 && { strokeWidth: width }),
    ...(typeof type === 'number' && dashes[type] && { strokeDasharray: dashes[type] }),
  };
}
