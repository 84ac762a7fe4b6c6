/**
 * The values of a schedule at a moment: a pure function of the time since its start. Nothing runs while no frame comes: a link asks when a
 * frame arrives, and the answer says until when it holds.
 */
import { type FilterKey, type Filters, type FilterValues, wholeValues } from '../../schema/filter.ts';
import type { LinkSchedule, ScheduleStep, ScheduleTrace } from '../../schema/schedule.ts';
import { firstAfter, Outages, runAt } from '../../schema/schedule-outages.ts';

/** The state of a link at a moment, as its schedule says. */
export interface Moment {
  /** Filters in place of the link's own; an empty list or a 0: off. */
  readonly filters: Readonly<Record<string, FilterValues>>;
  readonly suspend: boolean;
  /** The answer holds until this time since the start, milliseconds. */
  readonly until: number;
}

/** A run that has not begun, or is over. */
const nothing = { filters: {}, suspend: false } as const;

interface ValueChange {
  readonly at: number;
  readonly ramp: number;
  readonly from: FilterValues;
  readonly to: FilterValues;
}

export class Timeline {
  readonly #schedule: LinkSchedule;
  /** Changes by filter, in the order of their times. */
  readonly #changes: ReadonlyMap<string, readonly ValueChange[]>;
  readonly #outages: Outages;

  /** `own`: the filters of the link, from which a ramp may begin. */
  constructor(schedule: LinkSchedule, own: Filters) {
    this.#schedule = schedule;
    this.#changes = changesOf(schedule.steps, own);
    this.#outages = new Outages(schedule);
  }

  /** `elapsed`: milliseconds since the start, negative before it. */
  at(elapsed: number): Moment {
    const run = runAt(this.#schedule, elapsed);
    if (!run) return { ...nothing, until: elapsed < 0 ? 0 : Number.POSITIVE_INFINITY };
    const time = elapsed - run.start;
    const filters: Record<string, FilterValues> = {};
    let until = run.end - run.start;
    for (const [name, changes] of this.#changes) {
      const [values, end] = valuesAt(name, changes, time);
      if (values) filters[name] = values;
      until = Math.min(until, end);
    }
    for (const trace of this.#schedule.traces) until = Math.min(until, addTrace(filters, trace, time));
    const [suspend, end] = this.#outages.inRun(time);
    return { filters, suspend, until: run.start + Math.min(until, end) };
  }
}

function changesOf(steps: readonly ScheduleStep[], own: Filters): Map<string, ValueChange[]> {
  const changes = new Map<string, ValueChange[]>();
  for (const { at, filters = {}, ramp = 0 } of steps) {
    for (const [name, to] of Object.entries(filters)) {
      const before = changes.get(name) ?? [];
      const [from = valuesOf(own, name)] = valuesAt(name, before, at);
      before.push({ at, ramp, from, to });
      changes.set(name, before);
    }
  }
  return changes;
}

/** The values, and until when. */
function valuesAt(name: string, changes: readonly ValueChange[], time: number): [FilterValues | undefined, number] {
  const next = firstAfter(changes.length, (index) => (changes[index] as ValueChange).at, time);
  const until = changes[next]?.at ?? Number.POSITIVE_INFINITY;
  const change = changes[next - 1];
  if (!change) return [undefined, until];
  const { at, ramp, from, to } = change;
  if (time >= at + ramp) return [to, until];
  // Values change every millisecond of a ramp.
  return [between(name, [from, to], (time - at) / ramp), Math.min(until, Math.floor(time) + 1)];
}

/** Adds the figures of a trace; returns until when they hold. */
function addTrace(filters: Record<string, FilterValues>, { direction, length, samples }: ScheduleTrace, time: number): number {
  const start = Math.floor(time / length) * length;
  const next = firstAfter(samples.length, (index) => samples[index]?.[0] ?? 0, time - start);
  const until = start + (samples[next]?.[0] ?? length);
  const [, rate = null, delay = null, loss = null] = samples[next - 1] ?? [];
  const suffix = direction ? `_${direction}` : '';
  if (rate !== null && rate > 0) filters[`bandwidth${suffix}`] = [rate];
  if (delay !== null) filters[`delay${suffix}`] = [delay];
  if (rate === 0) filters[`packet_loss${suffix}`] = [100];
  else if (loss !== null) filters[`packet_loss${suffix}`] = [loss];
  return until;
}

/** Values of a link's own filter; empty when it has none. */
function valuesOf(filters: Filters, name: string): FilterValues {
  return filters[name as FilterKey] ?? [];
}

/**
 * Linear in every number; texts are those of `to`. A number that `from` lacks counts as 0, but a bandwidth of 0 is none at all, and
 * what begins there is at once as it will be. A seed has no values in between.
 */
function between(name: string, [from, to]: readonly [FilterValues, FilterValues], part: number): FilterValues {
  if (name.startsWith('bandwidth') && !(Number(from[0]) > 0 && Number(to[0]) > 0)) return to;
  if (name === 'seed') return to;
  const whole = wholeValues(name);
  return to.map((value, place) => {
    const before = from[place] ?? 0;
    if (typeof value !== 'number' || typeof before !== 'number') return value;
    const now = before + (value - before) * part;
    return whole[place] ? Math.round(now) : now;
  });
}
