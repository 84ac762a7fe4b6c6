/**
 * The rank-sum test of Mann and Whitney ("On a test of whether one of two random variables is stochastically larger than the other", 1947):
 * the probability that two samples of one distribution differ as much as these in the sum of their ranks, either way. Exact; ties count half.
 */
export function rankTest(one: readonly number[], other: readonly number[]): number {
  const wins = one.reduce((sum, a) => sum + other.reduce((all, b) => all + (a < b ? 1 : a === b ? 0.5 : 0), 0), 0);
  const most = one.length * other.length;
  const counts = countsOf(one.length, other.length);
  const all = counts.reduce((sum, count) => sum + count, 0);
  // Ties may leave it between two whole numbers: the one nearer to the middle is the safe one.
  const extreme = Math.ceil(Math.min(wins, most - wins));
  const tail = counts.slice(0, extreme + 1).reduce((sum, count) => sum + count, 0);
  return Math.min(1, (2 * tail) / all);
}

/** Number of orders of `a` and `b` values for each number of pairs in which the first is smaller. */
function countsOf(a: number, b: number): number[] {
  if (a === 0 || b === 0) return [1];
  let rows: number[][] = Array.from({ length: b + 1 }, () => [1]);
  for (let size = 1; size <= a; size++) {
    const next: number[][] = [[1]];
    for (let other = 1; other <= b; other++) {
      const [without, before] = [next[other - 1] ?? [1], rows[other] ?? [1]];
      // The largest value is one of the first, behind all others, or one of the second, behind all of the first.
      next.push(sum(before, without, size));
    }
    rows = next;
  }
  return rows[b] ?? [1];
}

function sum(before: readonly number[], without: readonly number[], shift: number): number[] {
  const length = Math.max(before.length, without.length + shift);
  return Array.from({ length }, (_, at) => (before[at] ?? 0) + (without[at - shift] ?? 0));
}
