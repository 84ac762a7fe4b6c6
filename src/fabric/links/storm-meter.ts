/**
 * Notices a storm in a direction of a link, by counters that are sampled once a second. Two signs: frames return to a switch by another
 * port than that of their sender, which a loop alone makes of many frames; or there are more broadcasts than a network without loop has.
 */
import type { StormFigures } from '../protocol.ts';

/** Returned frames in a second at which there is a loop. Two stations with one address make a few, a loop with delays some tens. */
const loopPerSecond = 10;
/** Broadcasts in a second at which there is a storm. A thousand stations that look for their neighbours at once make as many, briefly. */
const stormPerSecond = 2000;
/** Seconds in a row that begin a storm, and that end one. */
const beginsAfter = 2;
const endsAfter = 3;

export interface StormCounters {
  broadcasts: number;
  returned: number;
}

export class StormMeter {
  readonly #last: StormCounters = { broadcasts: 0, returned: 0 };
  #broadcastsPerSecond = 0;
  #returnedPerSecond = 0;
  /** Seconds in a row in which there were signs; in a storm, in which there were none. */
  #seconds = 0;
  #since: number | undefined;

  /** Takes the counters, `seconds` after the last ones. */
  sample({ broadcasts, returned }: StormCounters, seconds: number): void {
    this.#broadcastsPerSecond = (broadcasts - this.#last.broadcasts) / seconds;
    // A port that was plugged anew counts from zero.
    this.#returnedPerSecond = Math.max(0, returned - this.#last.returned) / seconds;
    this.#last.broadcasts = broadcasts;
    this.#last.returned = returned;
    const isHigh = this.#returnedPerSecond >= loopPerSecond || this.#broadcastsPerSecond >= stormPerSecond;
    const isChange = isHigh !== (this.#since !== undefined);
    this.#seconds = isChange ? this.#seconds + 1 : 0;
    if (isHigh && this.#seconds >= beginsAfter) {
      this.#since = Date.now();
      this.#seconds = 0;
    } else if (!isHigh && this.#seconds >= endsAfter) {
      this.#since = undefined;
      this.#seconds = 0;
    }
  }

  /** Undefined: there is no storm. */
  read(): StormFigures | undefined {
    if (this.#since === undefined) return undefined;
    const { broadcasts, returned } = this.#last;
    return {
      since: this.#since,
      broadcasts,
      broadcastsPerSecond: this.#broadcastsPerSecond,
      returned,
      returnedPerSecond: this.#returnedPerSecond,
      isLoop: this.#returnedPerSecond >= loopPerSecond,
    };
  }
}

/** Adds the storms of both directions of a link; undefined where there is none. `vlans`: of the switch ports at its ends. */
export function stormOfLink(
  ab: StormFigures | undefined,
  ba: StormFigures | undefined,
  vlans: readonly (number | undefined)[],
): StormFigures | undefined {
  const [one, other] = [ab ?? ba, ab && ba];
  const vlan = vlans.find((each) => each !== undefined);
  const ofOne = one && vlan !== undefined ? { ...one, vlan } : one;
  if (!ofOne || !other) return ofOne;
  return {
    ...ofOne,
    since: Math.min(ofOne.since, other.since),
    broadcasts: ofOne.broadcasts + other.broadcasts,
    broadcastsPerSecond: ofOne.broadcastsPerSecond + other.broadcastsPerSecond,
    returned: ofOne.returned + other.returned,
    returnedPerSecond: ofOne.returnedPerSecond + other.returnedPerSecond,
    isLoop: ofOne.isLoop || other.isLoop,
  };
}
