/** A link on the canvas: its line, the names of its two ports, and a pill with its state. */
import { type ReadonlySignal, useComputed } from '@preact/signals';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { Box } from '../geometry/geometry.ts';
import { type PortSpot, portPlace, type TextPlace, type ValueSpot, valuePlace } from '../geometry/label-spots.ts';
import { useApp, useProject } from '../state/app.ts';
import type { OverlayMark } from '../state/overlay.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { isDetailed, labelledBoxes } from './detail.ts';
import { type DrawnLink, drawnLink } from './drawn-link.ts';
import { labelLook } from './label.ts';
import { badgeOf, LinkBadge, linkStates, marksOf } from './link-badge.tsx';
import { LinkFlow, LinkTitle } from './link-flow.tsx';
import { endText, endTextSize, isEndPlaced, portName } from './port-name.ts';
import { useFacts } from './use-facts.ts';

export function LinkView({ id }: { readonly id: string }) {
  const { symbolSet, viewport } = useApp();
  const project = useProject();
  const { links, nodes, drawn, selection, work, traffic } = project;
  // A drag changes the line, and with it attributes; only what stands on the line is rendered again.
  const line = useComputed(() => drawnLink(project, id, symbolSet.value === 'flat'));
  const d = useComputed(() => line.value?.path.d);
  const { isDrawn, isSelected, label, failure, isKernel, spots, mark, inDetail } = useFacts(() => ({
    isDrawn: line.value !== undefined,
    isSelected: selection.ids.value.has(id),
    label: selection.labelOf(id),
    failure: work.failures.value.get(id),
    isKernel: traffic.isKernelPath(id),
    spots: drawn.placement.value.links.get(id),
    mark: drawn.overlay.value?.links.value.get(id),
    inDetail: isDetailed(viewport, () => labelBoxes(project, id)),
  }));
  const link = links.signalOf(id)?.value;
  const [a, b] = link?.nodes ?? [];
  const one = a && nodes.find(a.node_id);
  const other = b && nodes.find(b.node_id);
  if (!link || !one || !other || !isDrawn) return null;
  const hasValues = inDetail && (!spots?.value?.isShort || isSelected);
  return (
    <g
      class={`link ${mark ? `look-${mark.look}` : linkStates(link).join(' ')}${isKernel ? ' kernel' : ''}${isSelected ? ' selected' : ''}`}
      data-id={id}
      data-kind="link"
    >
      <LinkTitle
        id={id}
        title={`${linkTitle(link, [one, other])}${isKernel ? `, ${texts.kernelPath}` : ''}`}
        names={[one.name, other.name]}
      />
      <path class="hit" d={d} />
      <path class="line" d={d} style={mark ? {} : lineStyle(link)} />
      <LinkFlow id={id} line={line} />
      {inDetail && <EndView link={link} line={line} node={one} end={0} spot={spots?.ports[0]} selected={label === 0} />}
      {inDetail && <EndView link={link} line={line} node={other} end={1} spot={spots?.ports[1]} selected={label === 1} />}
      {(failure || mark || linkStates(link).length > 0) && (
        <BadgeView link={link} line={line} mark={mark} spot={spots?.value} hasValues={hasValues} failure={failure} />
      )}
    </g>
  );
}

/** Boxes of the ends of a link and of the names of its ports. */
function labelBoxes({ links, nodes, groups }: ProjectState, id: string): readonly Box[] {
  return (links.find(id)?.nodes ?? []).flatMap(({ node_id, label }) => {
    const group = groups.hidden.value.get(node_id);
    const node = nodes.find(node_id);
    return [...(group ? [group.box] : []), ...(node ? labelledBoxes(node, label) : [])];
  });
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

interface OnLineProps {
  readonly link: Link;
  readonly line: ReadonlySignal<DrawnLink | undefined>;
}

interface BadgeProps extends OnLineProps {
  readonly mark: OverlayMark | undefined;
  readonly spot: ValueSpot | undefined;
  readonly hasValues: boolean;
  readonly failure: string | undefined;
}

/** Marks alone, as at small scales, stand in the middle. */
function BadgeView({ link, line, mark, spot, hasValues, failure }: BadgeProps) {
  if (!line.value) return null;
  const { curve, middle } = line.value.path;
  const badge = hasValues ? badgeOf(link, curve, mark) : marksOf(link, mark);
  return <LinkBadge badge={badge} at={spot ? valuePlace(curve, spot, badge.width) : middle} failure={failure} />;
}

interface EndProps extends OnLineProps {
  readonly node: Node;
  readonly end: 0 | 1;
  readonly spot: PortSpot | undefined;
  /** The label of this end is selected. */
  readonly selected: boolean;
}

/** A label that a user moved has a position relative to its node; another lies where the line leaves the node. */
function EndView({ node, link, end, line, spot, selected }: EndProps) {
  const { drawn } = useProject();
  if (!line.value) return null;
  const { path, ends } = line.value;
  const symbols = [ends[0].symbol, ends[1].symbol] as const;
  const at = path.ends[end];
  const from = drawn.dragged.placed(node.node_id, node);
  const { style, sizePx } = labelLook(link.nodes[end]?.label?.style);
  const { x = 0, y = 0 } = link.nodes[end]?.label ?? {};
  const place: TextPlace = isEndPlaced(link, end)
    ? { x: from.x + (x ?? 0), y: from.y + y + sizePx, anchor: 'start' }
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
