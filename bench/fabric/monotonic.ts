/** The same clock in all threads, unlike performance.now(); ms. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
