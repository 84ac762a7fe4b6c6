/** Outlines around what other users have selected, with their initials. They take no clicks. */
import { useComputed } from '@preact/signals';
import type { PresenceSession } from '../../src/schema/presence.ts';
import { type Box, nodeBox } from '../geometry/geometry.ts';
import { useApp, useProject } from '../state/app.ts';
import { colourOf, initialsOf } from '../state/presence.ts';
import { linkEnd, linkPath } from './link-path.ts';
import { nameSizePx } from './name-size.ts';

/** Distance between an item and its outline. */
const gapPx = 6;
/** Several users may have selected the same item. */
const stepPx = 3;

export function SelectionsOfOthers() {
  const { viewport } = useApp();
  const { presence } = useProject();
  const fontSize = useComputed(() => nameSizePx(viewport.drawn.value.scale)).value;
  const others = presence.others.value.filter(({ selected }) => selected.length > 0);
  if (others.length === 0) return null;
  return (
    <g class="selections-of-others" font-size={fontSize}>
      {others.map((session, place) => (
        <g key={session.number} style={{ '--session': colourOf(session) }}>
          {session.selected.map((id) => (
            <Outline key={id} id={id} session={session} gap={gapPx + place * stepPx} />
          ))}
        </g>
      ))}
    </g>
  );
}

interface OutlineProps {
  readonly id: string;
  readonly session: PresenceSession;
  readonly gap: number;
}

function Outline({ id, session, gap }: OutlineProps) {
  const { nodes, links, bulges, drawings, pictures, groups } = useProject();
  const hiddenIn = groups.hidden.value.get(id);
  const initials = initialsOf(session);
  if (hiddenIn) return <Frame box={hiddenIn.box} gap={gap} initials={initials} />;
  const node = nodes.find(id);
  if (node) return <Frame box={nodeBox(node)} gap={gap} initials={initials} />;
  const [one, other] = (links.find(id)?.nodes ?? []).map(({ node_id }) => nodes.find(node_id));
  if (one && other) {
    const [group, otherGroup] = [one, other].map(({ node_id }) => groups.hidden.value.get(node_id));
    if (group && group.id === otherGroup?.id) return null;
    const ends = [linkEnd(one, nodeBox(one), group), linkEnd(other, nodeBox(other), otherGroup)] as const;
    return <path d={linkPath(ends, bulges.value.get(id)).d} />;
  }
  const drawing = drawings.find(id);
  if (!drawing) return null;
  const box = groups.isCollapsed(id) ? groups.shown(id)?.box : undefined;
  if (box) return <Frame box={box} gap={gap} initials={initials} />;
  const { x, y, rotation, svg } = drawing;
  const { width, height } = pictures.of(svg);
  return (
    <g transform={`translate(${x} ${y}) rotate(${rotation})`}>
      <Frame box={{ x: 0, y: 0, width, height }} gap={gap} initials={initials} />
    </g>
  );
}

function Frame({ box, gap, initials }: { readonly box: Box; readonly gap: number; readonly initials: string }) {
  const { x, y, width, height } = box;
  return (
    <>
      <rect x={x - gap} y={y - gap} width={width + 2 * gap} height={height + 2 * gap} rx={gap + 2} />
      <text x={x + width + gap} y={y - gap - 3} text-anchor="end">
        {initials}
      </text>
    </>
  );
}
