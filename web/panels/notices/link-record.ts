/** Figures of a link over time: for each direction the frames that filters dropped since the last one that arrived. Pure. */
import type { DirectionCounters, LinkStats } from '../../../src/schema/link-stats.ts';

/** Frames of a direction since one arrived there, or since its filters are the present ones. */
export interface Run {
  readonly sinceMs: number;
  /** Frames that filters dropped, by the type of the filter. */
  readonly lost: Readonly<Record<string, number>>;
  /** Frames that arrived the other way. */
  readonly arrivedBack: number;
}

export interface LinkRecord {
  readonly upSinceMs: number;
  readonly isScheduled: boolean;
  /** Changes with the filters. */
  readonly filters: string;
  /** Frames that each end has sent since the link came up. */
  readonly received: readonly [number, number];
  /** Frames of each end that arrived at the other one. */
  readonly delivered: readonly [number, number];
  readonly runs: readonly [Run, Run];
  /** Frames dropped by filters since the link came up. */
  readonly dropped: readonly [Readonly<Record<string, number>>, Readonly<Record<string, number>>];
}

/** Causes of lost frames that are no filters. */
const otherCauses: ReadonlySet<string> = new Set(['suspend', 'queue_full', 'no_peer', 'oversized', 'not_admitted']);

/** `filters`: those of the link now, in a text. Undefined: the link carries nothing. */
export function nextRecord(
  before: LinkRecord | undefined,
  stats: LinkStats,
  { filters, nowMs }: { readonly filters: string; readonly nowMs: number },
): LinkRecord | undefined {
  if (!stats.running || stats.since === null) return undefined;
  const upSinceMs = Date.parse(stats.since);
  const [there, back] = stats.directions;
  const same = before && isContinued(before, stats, upSinceMs) ? before : undefined;
  const now = {
    received: [there.received_frames, back.received_frames],
    delivered: [there.frames, back.frames],
    dropped: [byFilters(there), byFilters(back)],
  } as const;
  const run = (from: 0 | 1): Run => {
    if (!same || same.filters !== filters || now.delivered[from] > same.delivered[from])
      return { sinceMs: nowMs, lost: {}, arrivedBack: 0 };
    const { sinceMs, lost, arrivedBack } = same.runs[from];
    const other = from === 0 ? 1 : 0;
    return {
      sinceMs,
      lost: added(lost, same.dropped[from], now.dropped[from]),
      arrivedBack: arrivedBack + now.delivered[other] - same.delivered[other],
    };
  };
  return { ...now, upSinceMs, isScheduled: stats.schedule !== undefined, filters, runs: [run(0), run(1)] };
}

/** Counters of a link that came up again, or of a fabric that was started again, begin at 0. */
function isContinued({ upSinceMs, received, delivered }: LinkRecord, { directions }: LinkStats, sinceMs: number): boolean {
  return (
    upSinceMs === sinceMs &&
    directions.every(
      ({ received_frames, frames }, way) => received_frames >= Number(received[way]) && frames >= Number(delivered[way]),
    )
  );
}

function byFilters({ dropped }: DirectionCounters): Record<string, number> {
  return Object.fromEntries(Object.entries(dropped).filter(([cause]) => !otherCauses.has(cause)));
}

function added(
  lost: Run['lost'],
  before: Readonly<Record<string, number>>,
  now: Readonly<Record<string, number>>,
): Record<string, number> {
  const sum: Record<string, number> = { ...lost };
  for (const [cause, count] of Object.entries(now)) {
    const more = count - (before[cause] ?? 0);
    if (more > 0) sum[cause] = (sum[cause] ?? 0) + more;
  }
  return sum;
}
