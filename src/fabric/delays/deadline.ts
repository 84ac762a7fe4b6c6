/** What stands in the word that the delay clock and its thread share. */

/** No deadline; the thread must be woken to see one. */
export const asleep = 0;
/** No deadline; the thread will look for one by itself, very soon. */
export const lookingOn = 1;

/**
 * Makes a function that turns times of this thread's `performance.now()` into deadlines: microseconds of the monotonic clock, modulo
 * 2^32, signed, in steps of 4 so that none is `asleep` or `lookingOn`. They are the same in all threads, while `performance.now()`
 * counts from another moment in each, and comparable by their signed difference while less than 35 minutes apart.
 */
export function deadlines(): (timeMs: number) => number {
  const offsetMicros = monotonicOffsetMs() * 1000;
  return (timeMs) => (timeMs * 1000 + offsetMicros) | 3;
}

/**
 * From `performance.now()` of this thread to the monotonic clock. What is between the two readings only makes it smaller, by a third of a
 * millisecond the first time: the largest of some is right.
 */
export function monotonicOffsetMs(): number {
  const one = () => Number(process.hrtime.bigint()) / 1e6 - performance.now();
  return Math.max(...Array.from({ length: 10 }, one));
}
