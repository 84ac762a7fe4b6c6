/** Checks a schedule's rules beyond its schema, and swaps its directions. */
import { checkFilter, type Filters, reversed } from './filter.ts';
import {
  type LinkSchedule,
  longestMs,
  mostExpressions,
  mostSamples,
  mostSteps,
  type ScheduleStep,
  type ScheduleTrace,
  type TraceSample,
} from './schedule.ts';

type CheckedPart<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

/** `latency` is another name of `delay` and would have to replace it, so schedules exclude it. */
const excluded = /^latency(?:_|$)/;
/** Upper bounds of time, rate, delay and loss: those of the filters. */
const most = [longestMs, 100_000_000, 32_767, 100] as const;

/** Checks a value of any type; returns the steps in the order of their times, with filters in stored form. */
export function checkSchedule(given: unknown): CheckedPart<LinkSchedule> {
  if (!isObject(given)) return wrong('it must be an object');
  const { started_at, duration, repeat = 1, steps, traces } = given as Partial<LinkSchedule>;
  if (!isTime(started_at, Number.MAX_SAFE_INTEGER)) return wrong('started_at must be milliseconds since 1970');
  if (duration !== undefined && (!isTime(duration) || duration === 0)) return wrong(`duration must be 1 to ${longestMs} ms`);
  if (!isTime(repeat)) return wrong('repeat must be a whole number, not below 0');
  if (repeat !== 1 && duration === undefined) return wrong('a schedule that repeats needs a duration');
  if (!Array.isArray(steps) || steps.length > mostSteps) return wrong(`steps must be a list of at most ${mostSteps}`);
  if (!Array.isArray(traces)) return wrong('traces must be a list');
  if (steps.length + traces.length === 0) return wrong('it has neither steps nor traces');
  const checkedSteps: ScheduleStep[] = [];
  for (const [index, step] of steps.entries()) {
    const checked = checkStep(step);
    if (!checked.ok) return wrong(`steps[${index}]: ${checked.reason}`);
    checkedSteps.push(checked.value);
  }
  const lines = new Set([...expressionsOf(checkedSteps).keys()].flatMap(expressionLines));
  if (lines.size > mostExpressions) return wrong(`more than ${mostExpressions} different expressions of bpf and match`);
  const reason = problemOfTraces(traces);
  if (reason !== undefined) return wrong(reason);
  checkedSteps.sort((one, other) => one.at - other.at);
  const timing = { started_at, ...(duration !== undefined && { duration }), ...(repeat !== 1 && { repeat }) };
  return { ok: true, value: { ...timing, steps: checkedSteps, traces: traces.map(asTrace) } };
}

/** Whether the filter's text consists of BPF expressions, one per line. */
export function isExpressionFilter(name: string): boolean {
  return /^(?:bpf|match)(?:_|$)/.test(name);
}

/** Returns the different texts of `bpf` and `match` in steps, in stored form, each with a filter that has it. */
export function expressionsOf(steps: readonly ScheduleStep[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { filters = {} } of steps) {
    for (const [name, [text = '']] of Object.entries(filters)) {
      if (isExpressionFilter(name) && text !== '') found.set(String(text), name);
    }
  }
  return found;
}

export function expressionLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Reduces a schedule to its outages; undefined when it has none. */
export function outagesOf({ steps, ...schedule }: LinkSchedule): LinkSchedule | undefined {
  const outages = steps.flatMap(({ at, suspend, flap }) =>
    suspend === undefined && flap === undefined ? [] : [{ at, ...(suspend !== undefined && { suspend }), ...(flap && { flap }) }],
  );
  return outages.length > 0 ? { ...schedule, steps: outages, traces: [] } : undefined;
}

/** Swaps the directions of a schedule. */
export function reversedSchedule({ steps, traces, ...timing }: LinkSchedule): LinkSchedule {
  return {
    ...timing,
    steps: steps.map((step) => ({
      ...step,
      ...(step.filters && { filters: reversed(step.filters as Filters) as typeof step.filters }),
    })),
    traces: traces.map(({ direction, ...trace }) =>
      direction ? { ...trace, direction: direction === 'ab' ? 'ba' : 'ab' } : trace,
    ),
  };
}

function checkStep(given: unknown): CheckedPart<ScheduleStep> {
  if (!isObject(given)) return wrong('it must be an object');
  const { at, filters, ramp, suspend, flap } = given as Partial<ScheduleStep>;
  if (!isTime(at)) return wrong(`at must be 0 to ${longestMs} ms`);
  if (ramp !== undefined && !isTime(ramp)) return wrong(`ramp must be 0 to ${longestMs} ms`);
  if (suspend !== undefined && typeof suspend !== 'boolean') return wrong('suspend must be true or false');
  if (suspend !== undefined && flap !== undefined) return wrong('give either suspend or flap, not both');
  const reason = problemOfFlap(flap);
  if (reason !== undefined) return wrong(reason);
  if (filters !== undefined && !isObject(filters)) return wrong('filters must be an object');
  const stored: Record<string, readonly (number | string)[]> = {};
  for (const [name, values] of Object.entries(filters ?? {})) {
    if (excluded.test(name)) return wrong(`filter ${name} cannot be scheduled: use delay`);
    const checked = checkFilter(name, values);
    if ('reason' in checked) return wrong(`filter ${name.slice(0, 100)}: ${checked.reason}`);
    stored[name] = checked.values;
  }
  const value: ScheduleStep = {
    at,
    ...(filters && { filters: stored }),
    ...(ramp !== undefined && { ramp }),
    ...(suspend !== undefined && { suspend }),
    ...(flap && { flap: asFlap(flap) }),
  };
  return { ok: true, value };
}

type Flap = NonNullable<ScheduleStep['flap']>;

function problemOfFlap(flap: unknown): string | undefined {
  if (flap === undefined) return undefined;
  if (!isObject(flap)) return 'flap must be an object';
  const { down, up, count = 1 } = flap as Partial<Flap>;
  const isPositive = (value: unknown) => isTime(value) && value > 0;
  return isPositive(down) && isPositive(up) && isPositive(count) ? undefined : `flap: down, up and count must be 1 to ${longestMs}`;
}

function asFlap({ down, up, count }: Flap): Flap {
  return { down, up, ...(count !== undefined && { count }) };
}

function problemOfTraces(traces: readonly unknown[]): string | undefined {
  let samples = 0;
  const directions = new Set<unknown>();
  for (const [index, given] of traces.entries()) {
    const name = `traces[${index}]`;
    const { direction, length, samples: list } = (isObject(given) ? given : {}) as Partial<ScheduleTrace>;
    if (direction !== undefined && direction !== 'ab' && direction !== 'ba') return `${name}: direction must be ab or ba`;
    if (directions.has(direction)) return `${name}: there is another trace for this direction`;
    directions.add(direction);
    if (!Array.isArray(list) || list.length === 0) return `${name}: samples must be a list, not empty`;
    samples += list.length;
    if (samples > mostSamples) return `more than ${mostSamples} samples`;
    let before = -1;
    for (const [place, sample] of list.entries()) {
      if (!isSample(sample))
        return `${name}.samples[${place}] must be [ms, kbit/s, ms of delay, % of loss] within the filters' bounds`;
      if (sample[0] <= before) return `${name}.samples[${place}] is not later than the one before it`;
      before = sample[0];
    }
    if (!isTime(length) || length <= before) return `${name}: length must be longer than its last sample's time`;
  }
  return undefined;
}

function isSample(sample: unknown): sample is TraceSample {
  if (!Array.isArray(sample) || sample.length !== most.length || !isTime(sample[0])) return false;
  return sample
    .slice(1)
    .every((value, place) => value === null || (Number.isFinite(value) && value >= 0 && value <= (most[place + 1] as number)));
}

function asTrace({ direction, length, samples }: ScheduleTrace): ScheduleTrace {
  return { ...(direction && { direction }), length, samples };
}

function isTime(value: unknown, last: number = longestMs): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= last;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(reason: string): { ok: false; reason: string } {
  return { ok: false, reason };
}
