/** Schedules: timelines of a link's impairments, as steps and as traces of rate, delay and loss. Times are whole milliseconds. */

import { named, nullable, oneOf, strict, Uuid } from './common.ts';
import { linkDirections } from './filter.ts';
import { type Static, Type } from './type.ts';

/** A week, in ms. */
export const longestMs = 7 * 24 * 3600 * 1000;
export const mostSteps = 1_000;
/** Most different lines of `bpf` and `match` in all steps together. */
export const mostExpressions = 64;
/** Most samples in all traces of a link together. */
export const mostSamples = 10_000;
/** Most traces: one for each direction and one for both. */
const mostTraces = 3;

const time = (description: string, minimum = 0) => Type.Integer({ minimum, maximum: longestMs, description });
const direction = Type.Optional(
  oneOf(linkDirections, { description: 'ab: from the first node of the link to its second. Default: both' }),
);

export const ScheduleStep = Type.Object(
  {
    at: time('When it begins, since the start of the run'),
    filters: Type.Optional(
      Type.Unsafe<Readonly<Record<string, readonly (number | string)[]>>>(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'Filters in effect from then on, in place of those of the link; [] or [0]: off. Not latency',
        }),
      ),
    ),
    ramp: Type.Optional(time('The numbers of `filters` change linearly over this time')),
    suspend: Type.Optional(Type.Boolean({ description: 'The link drops every frame from then on, or no longer' })),
    flap: Type.Optional(
      Type.Object(
        {
          down: time('The link drops every frame for this time, first', 1),
          up: time('Then it carries frames for this time', 1),
          count: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'How often. Default: until `suspend` or `flap`' }),
          ),
        },
        named('ScheduleFlap'),
      ),
    ),
  },
  named('ScheduleStep'),
);
export type ScheduleStep = Static<typeof ScheduleStep>;

const figure = nullable(Type.Number());
/** Time in ms, rate in kbit/s (0: blocked), delay in ms, loss in %; null: the trace has no value for this. */
const TraceSample = Type.Unsafe<TraceSample>(
  Type.Array(figure, { minItems: 4, maxItems: 4, description: 'ms, kbit/s, ms of delay, % of loss; null: as without the trace' }),
);
export type TraceSample = readonly [at: number, rate: number | null, delay: number | null, loss: number | null];

const traceFields = { direction };
/** A trace; it repeats after its length until the run ends. */
export const ScheduleTrace = Type.Object(
  {
    ...traceFields,
    length: time('After which it begins anew', 1),
    samples: Type.Array(TraceSample, { minItems: 1, maxItems: mostSamples, description: 'Each is in effect until the next' }),
  },
  named('ScheduleTrace'),
);
export type ScheduleTrace = Static<typeof ScheduleTrace>;

export const traceFormats = ['csv', 'mahimahi'] as const;
export type TraceFormat = (typeof traceFormats)[number];
const TraceText = Type.Object(
  { ...traceFields, format: oneOf(traceFormats), text: Type.String({ maxLength: 1_000_000 }) },
  { ...strict, description: 'A trace as it was published; the answer has its samples' },
);

const timing = {
  started_at: Type.Integer({ minimum: 0, maximum: 8_640_000_000_000, description: 'Milliseconds since 1970' }),
  duration: Type.Optional(time('Length of a run. Without it, the last step stays in effect', 1)),
  repeat: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Runs, which need a duration; 0: without end. Default 1' }),
  ),
  steps: Type.Array(ScheduleStep, { maxItems: mostSteps }),
};

export const LinkSchedule = Type.Object(
  { ...timing, traces: Type.Array(ScheduleTrace, { maxItems: mostTraces }) },
  named('LinkSchedule'),
);
export type LinkSchedule = Readonly<Static<typeof LinkSchedule>>;

export const ScheduleOfLink = Type.Object({ link_id: Uuid, schedule: LinkSchedule }, named('ScheduleOfLink'));
export type ScheduleOfLink = Static<typeof ScheduleOfLink>;

export const LinkScheduleInput = Type.Object(
  {
    ...timing,
    started_at: Type.Optional({
      ...timing.started_at,
      description: 'Milliseconds since 1970. Default: now',
    } as typeof timing.started_at),
    steps: Type.Optional(timing.steps),
    traces: Type.Optional(Type.Array(Type.Union([ScheduleTrace, TraceText]), { maxItems: mostTraces })),
  },
  named('LinkScheduleInput'),
);
export type LinkScheduleInput = Static<typeof LinkScheduleInput>;
