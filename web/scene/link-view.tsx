/** A link on the canvas: its line, the names of its two ports, and a badge with its state. */
import { computed, useComputed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import { useApp, useProject } from '../state/app.ts';
import type { CollapsedGroup } from '../state/groups.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { symbolBox, useFlatSymbols } from '../ui/device-symbol.tsx';
import { isDetailed, labelledBoxes } from './detail.ts';
import { labelLook } from './label.ts';
import { LinkFlow, LinkTitle } from './link-flow.tsx';
import { linkEnd, linkPath } from './link-path.ts';

export function LinkView({ id }: { readonly id: string }) {
  const { links, nodes, bulges, selection, work, traffic } = useProject();
  const selected = useComputed(() => selection.ids.value.has(id));
  const label = useComputed(() => selection.labelOf(id)).value;
  const failure = useComputed(() => work.failures.value.get(id));
  const isKernel = useComputed(() => traffic.isKernelPath(id)).value;
  const isFlat = useFlatSymbols();
  const link = links.signalOf(id)?.value;
  const [a, b] = link?.nodes ?? [];
  const one = a && nodes.find(a.node_id);
  const other = b && nodes.find(b.node_id);
  const bulge = useComputed(() => bulges.value.get(id)).value;
  const inGroup = useGroupOf(a?.node_id);
  const otherInGroup = useGroupOf(b?.node_id);
  const inDetail = useDetail(id);
  if (!link || !one || !other || (inGroup && inGroup.id === otherInGroup?.id)) return null;
  const ends = [linkEnd(one, symbolBox(one, isFlat), inGroup), linkEnd(other, symbolBox(other, isFlat), otherInGroup)] as const;
  const path = linkPath(ends, bulge);
  const states = linkStates(link);
  return (
    <g
      class={`link ${states.join(' ')}${isKernel ? ' kernel' : ''}${selected.value ? ' selected' : ''}`}
      data-id={id}
      data-kind="link"
    >
      <LinkTitle
        id={id}
        title={`${linkTitle(link, [one, other])}${isKernel ? `, ${texts.kernelPath}` : ''}`}
        names={[one.name, other.name]}
      />
      <path class="hit" d={path.d} />
      <path class="line" d={path.d} style={lineStyle(link)} />
      <LinkFlow id={id} path={path} />
      {inDetail && <EndView node={one} link={link} end={0} at={path.ends[0]} selected={label === 0} />}
      {inDetail && <EndView node={other} link={link} end={1} at={path.ends[1]} selected={label === 1} />}
      {(states.length > 0 || failure.value) && (
        <g class={failure.value ? 'badge failed' : 'badge'} transform={`translate(${path.middle.x} ${path.middle.y})`}>
          {failure.value && <title>{failure.value}</title>}
          <rect x={-4 - 7 * Math.max(1, states.length)} y={-10} width={8 + 14 * Math.max(1, states.length)} height={20} rx={10} />
          {states.map((state, place) => (
            <path key={state} d={badgeMarks[state]} transform={`translate(${(place - (states.length - 1) / 2) * 14} 0)`} />
          ))}
        </g>
      )}
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

export type LinkState = 'suspended' | 'impaired' | 'capturing';

export function linkStates(link: Link): LinkState[] {
  const states: [LinkState, boolean][] = [
    ['suspended', link.suspend],
    ['impaired', Object.keys(link.filters).length > 0],
    ['capturing', link.capturing],
  ];
  return states.flatMap(([state, holds]) => (holds ? [state] : []));
}

const badgeMarks: Readonly<Record<LinkState, string>> = {
  suspended: 'M-2.5 -4V4M2.5 -4V4',
  impaired: 'M-5 0L-2.5 -4L0 3L2.5 -3L5 0',
  capturing: 'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0M3 3L5.5 5.5',
};

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

/** The name of the port at one end. */
export function portName(node: Node, link: Link, end: 0 | 1, form: 'name' | 'short_name' = 'name'): string {
  const { adapter_number, port_number } = link.nodes[end] ?? { adapter_number: 0, port_number: 0 };
  const port = node.ports.find((one) => one.adapter_number === adapter_number && one.port_number === port_number);
  return port?.[form] ?? `${adapter_number}/${port_number}`;
}

interface EndProps {
  readonly node: Node;
  readonly link: Link;
  readonly end: 0 | 1;
  readonly at: { readonly x: number; readonly y: number };
  /** The label of this end is selected. */
  readonly selected: boolean;
}

/** A moved label has a position relative to its node; a default label lies where the line leaves the node. */
function EndView({ node, link, end, at, selected }: EndProps) {
  const label = link.nodes[end]?.label;
  const { style, sizePx } = labelLook(label?.style);
  const isPlaced = typeof label?.x === 'number' && label.y !== undefined;
  const isOwn = label?.text !== undefined && label.text !== '' && !/^\d+\/\d+$/.test(label.text);
  const text = isOwn ? label.text : portName(node, link, end, 'short_name');
  const place = isPlaced ? { x: node.x + (label.x ?? 0), y: node.y + (label.y ?? 0) + sizePx } : { x: at.x, y: at.y + 4 };
  return (
    <g class="end">
      <circle class={`dot ${node.status}`} cx={at.x} cy={at.y} r={3.5} />
      <text
        class={selected ? 'label picked' : 'label'}
        data-label={end}
        x={place.x}
        y={isPlaced ? place.y : place.y - 9}
        text-anchor={isPlaced ? 'start' : 'middle'}
        style={style}
      >
        {text}
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
