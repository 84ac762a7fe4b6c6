/** The outages of a schedule, as guests see them: the carrier of an adapter goes down and comes back with its link. */

import type { LinkSchedule } from '../../schema/schedule.ts';
import { Outages } from '../../schema/schedule-outages.ts';

/** A flap may be quicker, an emulator need not be asked for each. */
const shortestMs = 100;
/** Longest delay of a Node.js timer. */
const longestMs = 2 ** 31 - 1;

export class ScheduledCarriers {
  /** Outages of the schedules in use, so that each schedule is read once. */
  readonly #outages = new WeakMap<LinkSchedule, Outages>();
  readonly #due: () => void;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;

  /** `due`: carriers may have changed. */
  constructor(due: () => void) {
    this.#due = due;
  }

  /** Whether a link is down now, by its schedule. Calls back when that may change. */
  isDown(schedule: LinkSchedule): boolean {
    const outages = this.#outages.get(schedule) ?? new Outages(schedule);
    this.#outages.set(schedule, outages);
    const now = Date.now();
    const [isDown, until] = outages.at(now - schedule.started_at);
    if (until !== Number.POSITIVE_INFINITY) this.#awaken(Math.max(schedule.started_at + until, now + shortestMs), now);
    return isDown;
  }

  #awaken(at: number, now: number): void {
    if (at >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = at;
    this.#timer = setTimeout(
      () => {
        this.#dueAt = Number.POSITIVE_INFINITY;
        this.#due();
      },
      Math.min(at - now, longestMs),
    ).unref();
  }
}
