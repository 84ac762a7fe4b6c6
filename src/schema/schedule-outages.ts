/** Computes when a schedule takes its link down: by steps with `suspend`, and by flaps. */

import type { LinkSchedule, ScheduleStep } from './schedule.ts';

export class Outages {
  readonly #schedule: LinkSchedule;
  readonly #steps: readonly Pick<ScheduleStep, 'at' | 'suspend' | 'flap'>[];

  constructor(schedule: LinkSchedule) {
    this.#schedule = schedule;
    this.#steps = schedule.steps.filter(({ suspend, flap }) => suspend !== undefined || flap !== undefined);
  }

  /** Whether the link is down `elapsed` ms after the start, and until when that lasts, in ms after the start. */
  at(elapsed: number): [isDown: boolean, until: number] {
    const run = runAt(this.#schedule, elapsed);
    if (!run) return [false, elapsed < 0 ? 0 : Number.POSITIVE_INFINITY];
    const [isDown, until] = this.inRun(elapsed - run.start);
    return [isDown, Math.min(run.end, run.start + until)];
  }

  /** Answers `at` within a run: both times are ms since the run began. */
  inRun(time: number): [isDown: boolean, until: number] {
    const steps = this.#steps;
    const next = firstAfter(steps.length, (index) => steps[index]?.at ?? 0, time);
    const until = steps[next]?.at ?? Number.POSITIVE_INFINITY;
    const { at = 0, suspend = false, flap } = steps[next - 1] ?? {};
    if (!flap) return [suspend, until];
    const { down, up, count = Number.POSITIVE_INFINITY } = flap;
    const cycle = Math.floor((time - at) / (down + up));
    if (cycle >= count) return [false, until];
    const start = at + cycle * (down + up);
    const isDown = time < start + down;
    return [isDown, Math.min(until, isDown ? start + down : start + down + up)];
  }
}

/** Returns the current run, in ms since the start of the first one; undefined before and after all runs. */
export function runAt(schedule: LinkSchedule, elapsed: number): { start: number; end: number } | undefined {
  const { duration = Number.POSITIVE_INFINITY, repeat = 1 } = schedule;
  const run = Math.floor(elapsed / duration);
  if (elapsed < 0 || (repeat > 0 && run >= repeat)) return undefined;
  const start = run === 0 ? 0 : run * duration;
  return { start, end: start + duration };
}

/** Returns the index of the first of `length` ascending times that is later than `time`. */
export function firstAfter(length: number, timeOf: (index: number) => number, time: number): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeOf(middle) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
