/** Reads the schedule of a link: times with units, filters like those of a link, traces in files beside the lab file. */
import {
  type LinkSchedule,
  mostSteps,
  type ScheduleStep,
  type ScheduleTrace,
  type TraceFormat,
  traceFormats,
} from '../../src/schema/schedule.ts';
import { checkSchedule } from '../../src/schema/schedule-rules.ts';
import { parseTrace } from '../../src/schema/trace-text.ts';
import { readDuration } from '../checks/definition/quantities.ts';
import { filterValues } from './filter-values.ts';
import { LabError, type Place } from './lab-error.ts';
import { besideFile, type LabFiles } from './lab-files.ts';
import type { LabScheduleSpec } from './lab-schema.ts';
import type { Tree } from './read-yaml.ts';

/** A schedule without its start, which is the time of the apply. */
export type LabSchedule = Omit<LinkSchedule, 'started_at'>;

interface ScheduleContext {
  readonly files: LabFiles;
  /** Path of the lab file that has the schedule. */
  readonly file: string;
  readonly place: Place | undefined;
}

/** Reads a schedule. @throws LabError */
export async function readSchedule(given: LabScheduleSpec, context: ScheduleContext): Promise<LabSchedule> {
  const { duration, repeat, steps = [], traces = [] } = given;
  const { place } = context;
  if (steps.length > mostSteps) throw new LabError(`a schedule has at most ${mostSteps} steps`, place);
  const read: ScheduleTrace[] = [];
  for (const trace of traces) read.push(await readTrace(trace, context));
  const checked = checkSchedule({
    started_at: 0,
    ...(duration !== undefined && { duration: readTime(duration, place) }),
    ...(repeat !== undefined && { repeat: repeat === 'forever' ? 0 : repeat }),
    steps: steps.map((step) => readStep(step, place)),
    traces: read,
  });
  if (!checked.ok) throw new LabError(`schedule: ${checked.reason}`, place);
  return scheduleWithoutStart(checked.value);
}

export function scheduleWithoutStart({ started_at: _start, ...schedule }: LinkSchedule): LabSchedule {
  return schedule;
}

type WrittenStep = NonNullable<LabScheduleSpec['steps']>[number];

function readStep({ at, filters, ramp, suspend, flap }: WrittenStep, place: Place | undefined): ScheduleStep {
  const time = (given: number | string) => readTime(given, place);
  return {
    at: time(at),
    ...(filters && { filters: filterValues(filters as Record<string, Tree>, place) as NonNullable<ScheduleStep['filters']> }),
    ...(ramp !== undefined && { ramp: time(ramp) }),
    ...(suspend !== undefined && { suspend }),
    ...(flap && { flap: { ...flap, down: time(flap.down), up: time(flap.up) } }),
  };
}

type WrittenTrace = NonNullable<LabScheduleSpec['traces']>[number];

async function readTrace(given: WrittenTrace, { files, file, place }: ScheduleContext): Promise<ScheduleTrace> {
  const { direction, file: named, format, length, samples } = given;
  const side = direction === undefined ? {} : { direction };
  if (named === undefined) {
    if (samples === undefined || length === undefined) throw new LabError('a trace has `file`, or `samples` and `length`', place);
    return { ...side, length: readTime(length, place), samples: samples as ScheduleTrace['samples'] };
  }
  if (samples !== undefined || length !== undefined)
    throw new LabError('a trace of a file has no `samples` and no `length`', place);
  const text = await files.read(besideFile(named, file, place), place);
  const parsed = parseTrace(format ?? formatOf(named), text);
  if (!parsed.ok) throw new LabError(`the trace ${named} cannot be used: ${parsed.reason}`, place);
  return { ...side, length: parsed.trace.length, samples: [...parsed.trace.samples] };
}

function formatOf(name: string): TraceFormat {
  const [csv, mahimahi] = traceFormats;
  return /\.(csv|tsv|txt)$/i.test(name) ? csv : mahimahi;
}

/** Reads a time: a number of milliseconds, or a text with a unit. */
function readTime(given: number | string, place: Place | undefined): number {
  if (typeof given === 'number') return given;
  try {
    return Math.round(readDuration(given));
  } catch (error) {
    throw new LabError(`schedule: ${(error as Error).message}`, place);
  }
}
