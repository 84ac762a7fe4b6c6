/** Where a dragged box snaps: to edges and centres of other boxes, and to equal gaps between its neighbours. Independent of the DOM. */
import { type Box, overlaps } from './geometry.ts';

/** A line that shows to what a box was aligned: along `x = at` or `y = at`. A gap is shown by a bar across it. */
export interface Guide {
  readonly kind: 'edge' | 'gap';
  readonly axis: Axis;
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

export interface Snap {
  readonly dx: number;
  readonly dy: number;
  readonly guides: readonly Guide[];
}

type Axis = 'x' | 'y';
const sizes = { x: 'width', y: 'height' } as const;
const across = { x: 'y', y: 'x' } as const;

/** A correction along one axis, and how it is shown. */
interface Candidate {
  readonly by: number;
  readonly guides: (box: Box) => readonly Guide[];
}

/** `nearPx`: a box farther away than this does not snap. Both in pixels of the scene. */
export function snapTo(others: readonly Box[], box: Box, nearPx: number): Snap {
  const [x, y] = (['x', 'y'] as const).map((axis) => nearest(axis, others, box, nearPx));
  const [dx, dy] = [x?.by ?? 0, y?.by ?? 0];
  const moved = { ...box, x: box.x + dx, y: box.y + dy };
  return { dx, dy, guides: [...(x?.guides(moved) ?? []), ...(y?.guides(moved) ?? [])] };
}

/** An alignment wins over an equal gap that is as near. */
function nearest(axis: Axis, others: readonly Box[], box: Box, nearPx: number): Candidate | undefined {
  let best: Candidate | undefined;
  for (const candidate of [...alignments(axis, others, box, nearPx), ...gaps(axis, others, box)])
    if (Math.abs(candidate.by) <= nearPx && (!best || Math.abs(candidate.by) < Math.abs(best.by) - 0.01)) best = candidate;
  return best;
}

/** The middle first: of boxes of one size all three are as near. */
const linesOf = (axis: Axis, box: Box) => [box[axis] + box[sizes[axis]] / 2, box[axis], box[axis] + box[sizes[axis]]];

function alignments(axis: Axis, others: readonly Box[], box: Box, nearPx: number): Candidate[] {
  const own = linesOf(axis, box);
  const found: Candidate[] = [];
  for (const other of others)
    for (const at of linesOf(axis, other))
      for (const line of own)
        if (Math.abs(at - line) <= nearPx) found.push({ by: at - line, guides: (moved) => [edge(axis, at, others, moved)] });
  return found;
}

/** Guide from the first to the last of the boxes that the line touches. */
function edge(axis: Axis, at: number, others: readonly Box[], moved: Box): Guide {
  const side = across[axis];
  const aligned = others.filter((other) => linesOf(axis, other).some((line) => Math.abs(line - at) < 0.5));
  const ends = [moved, ...aligned].flatMap((one) => [one[side], one[side] + one[sizes[side]]]);
  return { kind: 'edge', axis, at, from: Math.min(...ends), to: Math.max(...ends) };
}

/** Positions in the middle between two neighbours, or as far from one of them as that is from its own neighbour. */
function gaps(axis: Axis, others: readonly Box[], box: Box): Candidate[] {
  const size = sizes[axis];
  const lane = { ...box, [axis]: -1e9, [size]: 2e9 };
  const row = others.filter((other) => overlaps(other, lane)).sort((one, other) => one[axis] - other[axis]);
  const end = (one: Box) => one[axis] + one[size];
  const middle = box[axis] + box[size] / 2;
  const before = row.filter((other) => end(other) <= middle);
  const after = row.filter((other) => other[axis] >= middle);
  const [previous, last] = before.slice(-2).length === 2 ? before.slice(-2) : [undefined, before.at(-1)];
  const [first, next] = after;
  const found: Candidate[] = [];
  const add = (place: number, bars: (moved: Box) => readonly (readonly [Box, Box])[]) =>
    found.push({ by: place - box[axis], guides: (moved) => bars(moved).map(([one, other]) => bar(axis, one, other)) });
  if (last && first)
    add((end(last) + first[axis] - box[size]) / 2, (moved) => [
      [last, moved],
      [moved, first],
    ]);
  if (previous && last && last[axis] > end(previous))
    add(end(last) + last[axis] - end(previous), (moved) => [
      [previous, last],
      [last, moved],
    ]);
  if (first && next && next[axis] > end(first))
    add(first[axis] - (next[axis] - end(first)) - box[size], (moved) => [
      [moved, first],
      [first, next],
    ]);
  return found;
}

function bar(axis: Axis, one: Box, other: Box): Guide {
  const side = across[axis];
  const shared = Math.max(one[side], other[side]) + Math.min(one[side] + one[sizes[side]], other[side] + other[sizes[side]]);
  return { kind: 'gap', axis, at: shared / 2, from: one[axis] + one[sizes[axis]], to: other[axis] };
}
