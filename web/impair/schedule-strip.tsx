/** A schedule along its time: where each step begins, where traces and outages are, and where it is now. */
import type { LinkSchedule, ScheduleStep } from '../../src/schema/schedule.ts';
import { texts } from '../texts.ts';

const widthPx = 276;
const heightPx = 26;

export interface Position {
  /** Milliseconds since the start of the run; undefined before the first and after the last. */
  readonly time: number | undefined;
  /** Number of the run, from 1. */
  readonly run: number;
}

export function positionOf({ duration, repeat = 1 }: LinkSchedule, elapsed: number): Position {
  const run = duration === undefined || elapsed < 0 ? 1 : Math.floor(elapsed / duration) + 1;
  const isOver = repeat > 0 && run > repeat;
  return { time: elapsed < 0 || isOver ? undefined : elapsed - (run - 1) * (duration ?? 0), run };
}

/** Length of the strip in milliseconds. A schedule without a duration is shown up to its last change, or to the present. */
export function shownLength({ duration, steps, traces }: LinkSchedule, time = 0): number {
  const ends = steps.map((step) => step.at + (step.ramp ?? 0) + flapLength(step));
  return duration ?? Math.max(1_000, time, ...ends, ...traces.map(({ length }) => length)) * 1.05;
}

function flapLength({ flap }: ScheduleStep): number {
  return flap ? (flap.down + flap.up) * (flap.count ?? 1) : 0;
}

interface StripProps {
  readonly schedule: LinkSchedule;
  readonly position: Position;
}

export function ScheduleStrip({ schedule, position: { time } }: StripProps) {
  const length = shownLength(schedule, time);
  const x = (ms: number) => Math.min(widthPx, (ms / length) * widthPx);
  return (
    <svg class="schedule-strip" viewBox={`0 0 ${widthPx} ${heightPx}`} role="img" aria-label={texts.schedule.strip}>
      <rect class="base" x={0} y={8} width={widthPx} height={10} rx={3} />
      {schedule.traces.map(({ direction }, place) => (
        <rect key={direction ?? 'both'} class="trace" x={0} y={20 + place * 2} width={widthPx} height={1.5} />
      ))}
      {schedule.steps.map((step) => (
        <g key={`${step.at} ${JSON.stringify(step)}`}>
          {step.ramp && <path class="ramp" d={`M${x(step.at)} 18L${x(step.at + step.ramp)} 8V18Z`} />}
          {step.flap && <rect class="outage" x={x(step.at)} y={8} width={Math.max(2, x(flapLength(step)))} height={10} />}
          {step.suspend && <rect class="outage" x={x(step.at)} y={8} width={Math.max(2, x(upAgain(schedule, step)))} height={10} />}
          <path class="step" d={`M${x(step.at)} 4V22`}>
            <title>{titleOf(step)}</title>
          </path>
        </g>
      ))}
      {time !== undefined && <path class="now" d={`M${x(time)} 0V${heightPx}`} />}
    </svg>
  );
}

/** Length of an outage. */
function upAgain({ steps, ...schedule }: LinkSchedule, step: ScheduleStep): number {
  const next = steps.find(({ at, suspend, flap }) => at > step.at && (suspend !== undefined || flap !== undefined));
  return (next?.at ?? shownLength({ steps, ...schedule })) - step.at;
}

function titleOf({ at, ...step }: ScheduleStep): string {
  return `${seconds(at)}: ${JSON.stringify(step).slice(1, -1).replaceAll('"', '')}`;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toLocaleString('en', { maximumFractionDigits: 1 })} s`;
}
