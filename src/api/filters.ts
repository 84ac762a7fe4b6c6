/** Checks filters and schedules of the controller's and the compute's API; only the fabric checks them again. */
import { type Filters, knownFilters, normaliseFilters } from '../schema/filter.ts';
import type { LinkSchedule, LinkScheduleInput } from '../schema/schedule.ts';
import { checkSchedule } from '../schema/schedule-rules.ts';
import { parseTrace } from '../schema/trace-text.ts';
import { fault } from './faults.ts';

/** Returns the filters in stored form. @throws `filter_invalid` */
export function checkFilters(given: Readonly<Record<string, unknown>>): Filters {
  const checked = normaliseFilters(given);
  if (checked.ok) return checked.filters;
  throw fault('filter_invalid', { name: checked.name.slice(0, 100), reason: checked.reason, known: knownFilters });
}

/** Returns the schedule in stored form: traces as samples, the start now by default. @throws `schedule_invalid` */
export function scheduleOf({ started_at = Date.now(), steps = [], traces = [], ...timing }: LinkScheduleInput): LinkSchedule {
  const parsed = traces.map((trace, index) => {
    if (!('format' in trace)) return trace;
    const { format, text, ...rest } = trace;
    const read = parseTrace(format, text);
    if (read.ok) return { ...rest, ...read.trace };
    throw fault('schedule_invalid', { reason: `traces[${index}]: ${read.reason}` });
  });
  const checked = checkSchedule({ ...timing, started_at, steps, traces: parsed });
  if (checked.ok) return checked.value;
  throw fault('schedule_invalid', { reason: checked.reason });
}
