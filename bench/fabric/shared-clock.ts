/** Milliseconds of a clock that all threads and processes share. */
export function sharedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
