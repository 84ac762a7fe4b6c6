/**
 * The scale of the time line. Times between events that lie close have their true proportions; long pauses are shortened, so that a lab
 * that was built in an hour and rested for a month still fills the line.
 */

/** Pauses up to this long have their true length. Seconds. */
const truePause = 60;
/** Events of the same instant are so far apart, so that zooming in separates them. Seconds. */
const leastGap = 0.2;

/** Growth of longer pauses: a day takes as much as three minutes. */
const growth = 0.25;
/** A pause takes no more than this part of the time without pauses, unless shorter gaps do. */
const mostOfRest = 0.3;

/** Returns the length of a gap on the line by its length in time, both in seconds. */
function lengths(gaps: readonly number[]): (seconds: number) => number {
  const short = gaps.filter((gap) => gap <= truePause);
  const rest = short.reduce((sum, gap) => sum + Math.max(leastGap, gap), 0);
  const most = short.reduce((largest, gap) => Math.max(largest, gap), Math.max(1, mostOfRest * rest));
  return (gap) =>
    gap <= truePause ? Math.max(leastGap, gap) : Math.min(most, truePause * (1 + growth * Math.log(gap / truePause)));
}

export class TimeScale {
  readonly #times: readonly number[];
  /** Place of each time, from 0 to `#whole`. */
  readonly #places: readonly number[];
  readonly #whole: number;

  /** `times`: in order, milliseconds. */
  constructor(times: readonly number[]) {
    const gaps = times.slice(1).map((time, index) => (time - (times[index] ?? time)) / 1000);
    const lengthOf = lengths(gaps);
    let place = 0;
    this.#times = times;
    this.#places = times.map((_, index) => {
      if (index > 0) place += lengthOf(gaps[index - 1] ?? 0);
      return place;
    });
    this.#whole = Math.max(place, leastGap);
  }

  /** Place of the time with this index, from 0 to 1. */
  placeOf(index: number): number {
    return (this.#places[index] ?? 0) / this.#whole;
  }

  /** Place of any time, from 0 to 1. */
  placeAt(timeMs: number): number {
    return between(timeMs, this.#times, this.#places) / this.#whole;
  }

  /** The time at a place from 0 to 1, in milliseconds. */
  timeAt(place: number): number {
    return between(place * this.#whole, this.#places, this.#times);
  }
}

/** Maps a number from one rising list to another, linearly between their entries. */
function between(value: number, from: readonly number[], to: readonly number[]): number {
  let [low, high] = [0, from.length - 1];
  if (high < 0) return 0;
  if (value <= (from[0] ?? 0)) return to[0] ?? 0;
  if (value >= (from[high] ?? 0)) return to[high] ?? 0;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((from[middle] ?? 0) <= value) low = middle;
    else high = middle;
  }
  const [a = 0, b = 0, x = 0, y = 0] = [from[low], from[high], to[low], to[high]];
  return b === a ? y : x + ((value - a) / (b - a)) * (y - x);
}
