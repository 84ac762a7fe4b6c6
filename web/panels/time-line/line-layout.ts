/** Places events on the time line: those that lie close are one mark. */
import type { LineEvent } from './line-events.ts';
import { TimeScale } from './time-scale.ts';

/** The part of the whole time that is shown; the whole is from 0 to 1. */
export interface View {
  readonly from: number;
  readonly to: number;
}
export const wholeView: View = { from: 0, to: 1 };

export type Lane = LineEvent['kind'];
export interface Mark {
  readonly key: string;
  readonly lane: Lane;
  /** The oldest first; several are a group. */
  readonly events: readonly [LineEvent, ...LineEvent[]];
  /** Pixels from the left end of the line. */
  readonly x: number;
  /** Length of a capture; 0 for other marks. */
  readonly width: number;
  /** Pixels to the next mark of the lane, or the end of the line. */
  readonly room: number;
}

/** Width of a mark, and so the least distance of two. Pixels. */
export const markPx = 24;
const leastCapturePx = 8;
/** Distance of captures in a lane. */
const captureGapPx = 2;
/** Distance of the times below the line. */
const tickPx = 130;
const closestZoom = 1e-7;

export class LineLayout {
  readonly events: readonly LineEvent[];
  readonly #scale: TimeScale;
  readonly #indexes: ReadonlyMap<LineEvent, number>;

  /** `events`: in order of time. */
  constructor(events: readonly LineEvent[], nowMs: number) {
    this.events = events;
    const times = events.map((event) => ({ event, at: event.atMs }));
    const ends = events.flatMap((event) => (event.kind === 'capture' ? [{ event: undefined, at: event.endMs }] : []));
    const now = { event: undefined, at: Math.max(nowMs, events.at(-1)?.atMs ?? 0) };
    const all = [...times, ...ends, now].sort((one, other) => one.at - other.at);
    this.#scale = new TimeScale(all.map(({ at }) => at));
    this.#indexes = new Map(all.flatMap(({ event }, index) => (event ? [[event, index]] : [])));
  }

  placeOf(event: LineEvent): number {
    return this.#scale.placeOf(this.#indexes.get(event) ?? 0);
  }

  /** Marks of the events in the view, lane by lane, each from left to right. `widthPx`: of the line. */
  marks(view: View, widthPx: number): Mark[] {
    const pixel = (place: number) => ((place - view.from) / (view.to - view.from)) * widthPx;
    return (['snapshot', 'step', 'capture'] as const).flatMap((lane) => {
      const groups: { events: [LineEvent, ...LineEvent[]]; x: number; end: number }[] = [];
      for (const event of this.events) {
        if (event.kind !== lane) continue;
        const x = pixel(this.placeOf(event));
        const end = event.kind === 'capture' ? Math.max(x + leastCapturePx, pixel(this.#scale.placeAt(event.endMs))) : x;
        const last = groups.at(-1);
        if (last && (lane === 'capture' ? x < last.end + captureGapPx : x < last.x + markPx)) {
          last.events.push(event);
          last.end = Math.max(last.end, end);
        } else groups.push({ events: [event], x, end });
      }
      const seen = groups.filter(({ x, end }) => end >= 0 && x <= widthPx);
      return seen.map(({ events, x, end }, index): Mark => {
        const left = lane === 'capture' ? Math.max(0, x) : x;
        const next = seen[index + 1]?.x ?? widthPx + markPx / 2;
        const width = lane === 'capture' ? Math.min(end, widthPx) - left : 0;
        return { key: events[0].key, lane, events, x: left, width, room: next - left - markPx };
      });
    });
  }

  /** Times below the line: the same text stands once. */
  ticks(view: View, widthPx: number, textOf: (timeMs: number) => string): { readonly x: number; readonly text: string }[] {
    const count = Math.max(1, Math.floor(widthPx / tickPx));
    const ticks = Array.from({ length: count }, (_, index) => {
      const part = index / count;
      return { x: part * widthPx, text: textOf(this.#scale.timeAt(view.from + part * (view.to - view.from))) };
    });
    return ticks.filter(({ text }, index) => text !== ticks[index - 1]?.text);
  }
}

/** Enlarges by a factor around a point of the line, from 0 to 1, within the whole time. */
export function zoomed({ from, to }: View, factor: number, at: number): View {
  const length = Math.min(1, Math.max(closestZoom, (to - from) / factor));
  const start = from + at * (to - from) - at * length;
  return moved({ from: start, to: start + length }, 0);
}

/** Moves by a part of the shown time, within the whole. */
export function moved({ from, to }: View, part: number): View {
  const length = to - from;
  const start = Math.min(1 - length, Math.max(0, from + part * length));
  return { from: start, to: start + length };
}

/** Shows the places from `first` to `last`, with a margin. */
export function viewOf(first: number, last: number): View {
  const length = Math.min(1, Math.max(closestZoom, (last - first) * 1.3));
  const start = (first + last) / 2 - length / 2;
  return moved({ from: start, to: start + length }, 0);
}
