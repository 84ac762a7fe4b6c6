/** Shortens schedules in plans: a long trace would be repeated for each link of a range, megabytes each time. */
import { createHash } from 'node:crypto';
import type { LabSchedule } from '../file/link-schedule.ts';

/** Most samples that are shown; longer traces are shown by length and checksum. */
const shownSamples = 20;
const checksumCharacters = 12;

/** Returns the schedule for the plan. `seen`: checksums of this plan, because links of one range share their samples. */
export function shownSchedule(schedule: LabSchedule | undefined, seen: Map<object, string>): unknown {
  if (schedule?.traces === undefined) return schedule;
  const traces = schedule.traces.map((trace) =>
    trace.samples.length <= shownSamples ? trace : { ...trace, samples: samplesText(trace.samples, seen) },
  );
  return { ...schedule, traces };
}

function samplesText(samples: readonly object[], seen: Map<object, string>): string {
  const known = seen.get(samples);
  if (known !== undefined) return known;
  const checksum = createHash('sha256').update(JSON.stringify(samples)).digest('hex').slice(0, checksumCharacters);
  const text = `${samples.length} samples, sha256 ${checksum}…`;
  seen.set(samples, text);
  return text;
}
