/**
 * Makes a function that turns times of this thread's `performance.now()` into microseconds of the monotonic clock, modulo 2^32 and
 * signed: the same in all threads, while the origin of `performance.now()` is a different one in each.
 */
export function monotonicMicros(): (nowMs: number) => number {
  const offsetMicros = Number(process.hrtime.bigint() / 1000n) - performance.now() * 1000;
  return (nowMs) => (nowMs * 1000 + offsetMicros) | 0;
}
