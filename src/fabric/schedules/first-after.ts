/** Place of the first of `length` ascending times that is later than `time`. */
export function firstAfter(length: number, timeOf: (index: number) => number, time: number): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeOf(middle) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
