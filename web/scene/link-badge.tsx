/** The pill on a link: marks of its state, and the values of its impairments. */
import type { Link } from '../../src/schema/link.ts';
import type { Curve } from '../geometry/curve.ts';
import type { Point } from '../geometry/geometry.ts';
import { valueHeightPx } from '../geometry/label-spots.ts';
import { textWidth } from '../geometry/text-width.ts';
import type { OverlayMark } from '../state/overlay.ts';
import type { WayArrows } from '../texts/impaired.ts';
import { impairedText } from '../texts/impaired.ts';

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

const [markPx, marginPx, fontPx] = [14, 4, 10.5];

/** Content of the pill: the values stand for the mark of the impaired state. */
export interface Badge {
  readonly marks: readonly LinkState[];
  readonly text: string;
  readonly width: number;
}

/** `mark`: of an overlay, in the place of the states. */
export function badgeOf(link: Link, { from, to }: Curve, mark?: OverlayMark): Badge {
  if (mark) return { ...badgeWith([], mark.text), ...(mark.room && mark.text !== '' && { width: roomFor(mark.room) }) };
  const text = impairedText(link.filters, arrowsBetween(from, to));
  return badgeWith(
    linkStates(link).filter((state) => text === '' || state !== 'impaired'),
    text,
  );
}

/** Marks without the values, which are unreadable at small scales. */
export const marksOf = (link: Link, mark?: OverlayMark): Badge => badgeWith(mark ? [] : linkStates(link), '');

function badgeWith(marks: readonly LinkState[], text: string): Badge {
  const content = marks.length * markPx + (text === '' ? 0 : roomFor(textWidth(text, fontPx)));
  return { marks, text, width: content === 0 ? 0 : content + (text === '' ? 2 * marginPx : 0) };
}

/** Width of the pill around a text. */
const roomFor = (width: number) => width + 8 + 2 * marginPx;

/** Signs of the two directions of a line on the canvas. */
export function arrowsBetween(from: Point, to: Point): WayArrows {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const [there, back] = Math.abs(dx) >= Math.abs(dy) ? (['→', '←'] as const) : (['↓', '↑'] as const);
  return (Math.abs(dx) >= Math.abs(dy) ? dx : dy) >= 0 ? { ab: there, ba: back } : { ab: back, ba: there };
}

interface LinkBadgeProps {
  readonly badge: Badge;
  readonly at: Point;
  readonly failure: string | undefined;
}

export function LinkBadge({ badge: { marks, text, width }, at, failure }: LinkBadgeProps) {
  if (width === 0 && !failure) return null;
  const wide = Math.max(width, markPx + 2 * marginPx);
  const left = -wide / 2 + marginPx;
  return (
    <g class={failure ? 'badge failed' : 'badge'} transform={`translate(${at.x} ${at.y})`}>
      {failure && <title>{failure}</title>}
      <rect x={-wide / 2} y={-valueHeightPx / 2} width={wide} height={valueHeightPx} rx={valueHeightPx / 2} />
      {marks.map((state, place) => (
        <path key={state} d={badgeMarks[state]} transform={`translate(${left + (place + 0.5) * markPx} 0)`} />
      ))}
      {text !== '' && (
        <text class="value" x={(left + marks.length * markPx + wide / 2 - marginPx) / 2} y={fontPx * 0.36} text-anchor="middle">
          {text}
        </text>
      )}
    </g>
  );
}
