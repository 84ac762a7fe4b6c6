/** The last two minutes of a link, for its graph. */
import type { DirectionFigures, LinkStats } from '../../src/schema/link-stats.ts';

/** Figures of one direction. */
export interface WaySample {
  readonly bitsPerSecond: number;
  readonly framesPerSecond: number;
  readonly dropsPerSecond: number;
  /** Median delay of recent frames; null when no frame was delayed. */
  readonly delayMs: number | null;
}

export interface LinkSample {
  readonly atMs: number;
  readonly ways: readonly [WaySample, WaySample];
}

export const historyMs = 120_000;

const droppedBy = ({ dropped }: DirectionFigures) => Object.values(dropped).reduce((sum, count) => sum + count, 0);

/** Appends the latest sample. `before` is the previous one: drops arrive as totals, and the history holds differences. */
export function withSample(
  history: readonly LinkSample[],
  now: { readonly stats: LinkStats; readonly atMs: number },
  before: { readonly stats: LinkStats; readonly atMs: number } | undefined,
): readonly LinkSample[] {
  const way = (place: 0 | 1): WaySample => {
    const figures = now.stats.directions[place];
    // Totals restart when the link comes up.
    const isSame = before !== undefined && before.stats.since === now.stats.since;
    const lost = isSame ? droppedBy(figures) - droppedBy(before.stats.directions[place]) : 0;
    const seconds = isSame ? Math.max(0.001, (now.atMs - before.atMs) / 1000) : 1;
    return {
      bitsPerSecond: figures.last_second.bits_per_second,
      framesPerSecond: figures.last_second.frames_per_second,
      dropsPerSecond: Math.max(0, lost) / seconds,
      delayMs: figures.delay?.median_ms ?? null,
    };
  };
  const oldest = now.atMs - historyMs;
  return [...history.filter(({ atMs }) => atMs >= oldest), { atMs: now.atMs, ways: [way(0), way(1)] }];
}

/** The smallest of 1, 2, 5, 10, 20 … that is at least the value. */
export function roundTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value * 0.999_999) ?? 10) * power;
}
