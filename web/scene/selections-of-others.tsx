/** Outlines around what other users have selected, with their initials. They take no clicks. */
import { useComputed } from '@preact/signals';
import type { Node } from '../../src/schema/node.ts';
import type { PresenceSession } from '../../src/schema/presence.ts';
import { around, type Box } from '../geometry/geometry.ts';
import { useApp, useProject } from '../state/app.ts';
import { colourOf, initialsOf } from '../state/presence.ts';
import { symbolBox, useFlatSymbols } from '../ui/device-symbol.tsx';
import { drawnLink } from './drawn-link.ts';
import { nameSizePx } from './name-size.ts';

/** Distance between an item and its outline, and between the outlines of several users. Scene pixels. */
const gapPx = 5;
const stepPx = 3;
/** Outlines of one item: the initials of further users are counted. */
const mostFrames = 3;
/** Part of the font size that a character of a name takes, at least as much as most, and the longest name that is framed. */
const charPart = 0.62;
const widestNamePx = 220;
/** Distance of the top of a name from the symbol below it. */
const nameTopPx = 26;

export function SelectionsOfOthers() {
  const { viewport } = useApp();
  const { presence } = useProject();
  const fontSize = useComputed(() => nameSizePx(viewport.drawn.value.scale)).value;
  const selected = presence.others.value.flatMap((session) => session.selected.map((id) => ({ id, session })));
  if (selected.length === 0) return null;
  return (
    <g class="selections-of-others" font-size={fontSize}>
      {Array.from(
        Map.groupBy(selected, ({ id }) => id),
        ([id, those]) => (
          <Outline key={id} id={id} sessions={those.map(({ session }) => session)} fontSize={fontSize} />
        ),
      )}
    </g>
  );
}

interface OutlineProps {
  readonly id: string;
  readonly sessions: readonly PresenceSession[];
  readonly fontSize: number;
}

function Outline({ id, ...of }: OutlineProps) {
  const project = useProject();
  const { nodes, links, drawn, drawings, pictures, groups } = project;
  const isFlat = useFlatSymbols();
  const hiddenIn = groups.hidden.value.get(id);
  if (hiddenIn) return <Frames box={groups.drawnBox(hiddenIn)} {...of} />;
  const node = nodes.find(id);
  if (node) return <Frames box={withName(drawn.dragged.placed(id, node), isFlat, of.fontSize)} {...of} />;
  if (links.find(id)) {
    const line = drawnLink(project, id, isFlat);
    const [session] = of.sessions;
    return session && line ? <path d={line.path.d} style={{ '--session': colourOf(session) }} /> : null;
  }
  const drawing = drawings.find(id);
  if (!drawing) return null;
  const group = groups.isCollapsed(id) ? groups.shown(id) : undefined;
  if (group) return <Frames box={groups.drawnBox(group)} {...of} />;
  const { x, y, rotation, svg } = drawn.dragged.placed(id, drawing);
  const { width, height } = pictures.of(svg);
  return (
    <g transform={`translate(${x} ${y}) rotate(${rotation})`}>
      <Frames box={{ x: 0, y: 0, width, height }} {...of} />
    </g>
  );
}

/** The drawn symbol and, in its usual place, the name above it. */
function withName(node: Node, isFlat: boolean, fontSize: number): Box {
  const { x, y, width, height } = symbolBox(node, isFlat);
  const symbol = { x: node.x + x, y: node.y + y, width, height };
  if (typeof node.label.x === 'number') return symbol;
  const nameWidth = Math.min(node.name.length * fontSize * charPart, widestNamePx);
  const left = node.x + (node.width - nameWidth) / 2;
  const name = { x: left, y: symbol.y - nameTopPx, width: nameWidth, height: fontSize };
  return around([symbol, name]) ?? symbol;
}

interface FramesProps extends Omit<OutlineProps, 'id'> {
  readonly box: Box;
}

/** A frame for each of the first users, one inside the other, and their initials below each other, to the right. */
function Frames({ box: { x, y, width, height }, sessions, fontSize }: FramesProps) {
  const shown = sessions.slice(0, mostFrames);
  const widest = gapPx + (shown.length - 1) * stepPx;
  const lineAt = (line: number) => ({ x: x + width + widest + 4, y: y - gapPx + fontSize * (0.8 + line * 1.1) });
  return (
    <>
      {shown.map((session, place) => {
        const gap = gapPx + place * stepPx;
        return (
          <g key={session.number} style={{ '--session': colourOf(session) }}>
            <rect x={x - gap} y={y - gap} width={width + 2 * gap} height={height + 2 * gap} rx={gap + 2} />
            <text {...lineAt(place)}>{initialsOf(session)}</text>
          </g>
        );
      })}
      {sessions.length > mostFrames && (
        <text class="more" {...lineAt(mostFrames)}>
          +{sessions.length - mostFrames}
        </text>
      )}
    </>
  );
}
