/** Time of a clock that all threads share, unlike performance.now(); ms. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
