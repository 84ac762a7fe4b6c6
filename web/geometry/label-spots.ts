/**
 * Where labels stand relative to what they name, and the boxes that they take. A spot stays while its node or link moves, so that a
 * drag places nothing anew.
 */
import { asideOn, type Curve, pointOn } from './curve.ts';
import { type Box, type Point, reach } from './geometry.ts';

/** A text that is drawn: its size and estimated width. Pixels. */
export interface TextSize {
  readonly width: number;
  readonly size: number;
}

/** An anchor of a text, and its baseline. */
export interface TextPlace extends Point {
  readonly anchor: 'start' | 'middle' | 'end';
}

/** Place of the name of a node, relative to the upper left corner of its symbol. */
export type NameSpot = TextPlace;

/** Place of the name of a port: how far from its node on the line, and on which side of it. */
export interface PortSpot {
  /** Distance from the border of the symbol. Pixels. */
  readonly away: number;
  /** 1: to the right, seen from the first end of the link. */
  readonly side: -1 | 1;
  /** Lacks room: it is shown while the link is selected or below the pointer. */
  readonly isHidden?: true;
}

/** Place of the values of a link: the part of the line, and the side; 0 is on it. */
export interface ValueSpot {
  readonly at: number;
  readonly side: -1 | 0 | 1;
  /** Lack room: a mark stands for them until the link is selected. */
  readonly isShort?: true;
}

export interface LinkSpots {
  readonly ports: readonly [PortSpot | undefined, PortSpot | undefined];
  readonly value: ValueSpot | undefined;
}

/** Distance of the dot at the end of a link from the symbol. */
export const dotAwayPx = 16;
export const valueHeightPx = 18;
/** Width of a mark in the place of values. */
export const markWidth = 22;
/** Gap between a text and what it must not touch. */
const gapPx = 2;
/** Distance of a name from its symbol. */
const nameGapPx = { above: 13, below: 5, beside: 8 } as const;

/** Where a name stands that nothing disturbs. */
export const nameAbove = (symbol: Pick<Box, 'width'>): NameSpot => ({ x: symbol.width / 2, y: -nameGapPx.above, anchor: 'middle' });

/** Places of a name around a symbol, the preferred ones first. */
export function nameSpots(symbol: Pick<Box, 'width' | 'height'>, { size }: TextSize): readonly NameSpot[] {
  const { width, height } = symbol;
  const middle = Math.round(height / 2 + size * 0.36);
  const [above, below] = [-nameGapPx.above, Math.round(height + nameGapPx.below + size * 0.8)];
  const [left, right] = [-nameGapPx.beside, width + nameGapPx.beside];
  const lines = (y: number): NameSpot[] => [
    { x: width / 2, y, anchor: 'middle' },
    { x: width / 2 + 6, y, anchor: 'start' },
    { x: width / 2 - 6, y, anchor: 'end' },
  ];
  const [over, under] = [lines(above), lines(below)];
  return [
    ...[over[0], under[0]].flatMap((spot) => spot ?? []),
    { x: right, y: middle, anchor: 'start' },
    { x: left, y: middle, anchor: 'end' },
    ...[...over.slice(1), ...under.slice(1)],
    ...([above + 4, below - 4] as const).flatMap((y): NameSpot[] => [
      { x: right - 4, y, anchor: 'start' },
      { x: left + 4, y, anchor: 'end' },
    ]),
    ...[...lines(above - Math.round(size * 1.2)), ...lines(below + Math.round(size * 1.2))],
    ...[above + 2, above - size, below - 2, below + size, middle - size, middle + size].flatMap((y): NameSpot[] => [
      { x: right + 8, y: Math.round(y), anchor: 'start' },
      { x: left - 8, y: Math.round(y), anchor: 'end' },
      { x: right + 28, y: Math.round(y), anchor: 'start' },
      { x: left - 28, y: Math.round(y), anchor: 'end' },
    ]),
    ...[...lines(above - Math.round(size * 2.4)), ...lines(below + Math.round(size * 2.4))],
    ...[52, 76, 100, 128].flatMap((distance) => ringAround(symbol, distance, size)),
  ];
}

/** Places on a circle: for names between many links. */
function ringAround({ width, height }: Size, distance: number, size: number): NameSpot[] {
  return Array.from({ length: 12 }, (_, place): NameSpot => {
    const angle = (place * Math.PI) / 6;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    const anchor = Math.abs(cos) < 0.3 ? 'middle' : cos > 0 ? 'start' : 'end';
    return { x: Math.round(width / 2 + distance * cos), y: Math.round(height / 2 + size * 0.36 + distance * sin), anchor };
  });
}

/** Places of the name of a port, the preferred ones first: near its node, and above the line or at its right. */
export function portSpots(curve: Curve, end: 0 | 1, symbols: readonly [Size, Size]): readonly PortSpot[] {
  const { x, y } = asideOn(curve, end);
  const above = y < -0.2 || (y < 0.2 && x > 0) ? 1 : -1;
  const furthest = lengthOf(curve) * 0.45 - reachAt(curve, end, symbols);
  const far = [dotAwayPx, 26, 38, 52, 68, 86, 110].filter((away, place) => place === 0 || away <= furthest);
  return far.flatMap((away): PortSpot[] => [
    { away, side: above },
    { away, side: above === 1 ? -1 : 1 },
  ]);
}

export const valueSpots: readonly ValueSpot[] = [
  ...alongLine(0.06).map((at) => ({ at, side: 0 }) as const),
  ...alongLine(0.05).flatMap((at) => [{ at, side: 1 } as const, { at, side: -1 } as const]),
];

/** Parts of a line from its middle towards its ends. */
function alongLine(step: number): number[] {
  return [0.5, ...[1, 2, 3, 4, 5, 6, 7].flatMap((place) => [0.5 - place * step, 0.5 + place * step])];
}

type Size = Pick<Box, 'width' | 'height'>;

export function namePlace(symbol: Point, spot: NameSpot): TextPlace {
  return { x: symbol.x + spot.x, y: symbol.y + spot.y, anchor: spot.anchor };
}

/** A point of the line, at a distance from the border of the symbol at one of its ends. */
export function endPoint(curve: Curve, end: 0 | 1, symbols: readonly [Size, Size], away: number): Point {
  return pointOn(curve, endPart(curve, end, symbols, away));
}

function endPart(curve: Curve, end: 0 | 1, symbols: readonly [Size, Size], away: number): number {
  const part = Math.min((reachAt(curve, end, symbols) + away) / startLengthOf(curve, end), 0.45);
  return end === 0 ? part : 1 - part;
}

function reachAt({ from, to, control }: Curve, end: 0 | 1, symbols: readonly [Size, Size]): number {
  const [start, other] = end === 0 ? [from, to] : [to, from];
  const aim = control ?? other;
  return reach(symbols[end], aim.x - start.x, aim.y - start.y);
}

const lengthOf = ({ from, to }: Curve) => Math.hypot(to.x - from.x, to.y - from.y);

/** Length that the curve would have if it continued as it leaves its end. */
function startLengthOf(curve: Curve, end: 0 | 1): number {
  const { from, to, control } = curve;
  const start = end === 0 ? from : to;
  return (control ? 2 * Math.hypot(control.x - start.x, control.y - start.y) : lengthOf(curve)) || 1;
}

export function portPlace(
  { curve, symbols }: { readonly curve: Curve; readonly symbols: readonly [Size, Size] },
  end: 0 | 1,
  spot: PortSpot,
  text: TextSize,
): TextPlace {
  const part = endPart(curve, end, symbols, spot.away);
  const centre = beside(curve, part, spot.side, { width: text.width, height: text.size });
  return { x: centre.x, y: centre.y + text.size * 0.36, anchor: 'middle' };
}

/** The middle of the values. */
export function valuePlace(curve: Curve, { at, side }: ValueSpot, width: number): Point {
  return side === 0 ? pointOn(curve, at) : beside(curve, at, side, { width, height: valueHeightPx });
}

/** The middle of a box beside the line that does not touch it. */
function beside(curve: Curve, part: number, side: -1 | 1, { width, height }: Size): Point {
  const { x, y } = pointOn(curve, part);
  const normal = asideOn(curve, part);
  const distance = Math.abs(normal.x) * (width / 2) + Math.abs(normal.y) * (height / 2) + gapPx + 3;
  return { x: x + normal.x * side * distance, y: y + normal.y * side * distance };
}

/** The box of a text. */
export function textBox({ x, y, anchor }: TextPlace, { width, size }: TextSize): Box {
  const left = { start: x, middle: x - width / 2, end: x - width }[anchor];
  return { x: left, y: y - size * 0.8, width, height: size * 1.05 };
}

export function valueBox({ x, y }: Point, width: number): Box {
  return { x: x - width / 2, y: y - valueHeightPx / 2, width, height: valueHeightPx };
}

export function grown({ x, y, width, height }: Box, by: number): Box {
  return { x: x - by, y: y - by, width: width + 2 * by, height: height + 2 * by };
}
