/** Computes probabilities of a binomial distribution, in constant memory and a few thousand steps. */

/**
 * Returns the probability that at most (`lower`) or at least (`upper`) `hits` of `trials` happen, each with probability `p`. The
 * smaller of the two tells how improbable a count is.
 */
export function binomialTail(trials: number, hits: number, p: number): number {
  if (trials === 0) return 1;
  if (p <= 0) return hits === 0 ? 1 : 0;
  if (p >= 1) return hits === trials ? 1 : 0;
  return Math.min(1, sumFrom(trials, hits, p, -1), sumFrom(trials, hits, p, 1));
}

/**
 * Sums the terms from `hits` on, which fall with their distance from the mean. Where they rise first, this tail is the larger one
 * and its exact value does not matter.
 */
function sumFrom(trials: number, hits: number, p: number, step: -1 | 1): number {
  const isTowardsMean = step === -1 ? hits > trials * p : hits < trials * p;
  if (isTowardsMean) return 1;
  const logTerm = logChoose(trials, hits) + hits * Math.log(p) + (trials - hits) * Math.log1p(-p);
  let term = Math.exp(logTerm);
  let sum = 0;
  for (let k = hits; k >= 0 && k <= trials && term > 0; k += step) {
    const before = sum;
    sum += term;
    if (sum === before) break;
    term *= step === -1 ? (k * (1 - p)) / ((trials - k + 1) * p) : ((trials - k) * p) / ((k + 1) * (1 - p));
  }
  return sum;
}

function logChoose(n: number, k: number): number {
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k);
}

/** Computes ln(n!), by Stirling's series from 20 on, which is exact to 15 digits there. */
function logFactorial(n: number): number {
  if (n < 20) {
    let product = 1;
    for (let factor = 2; factor <= n; factor += 1) product *= factor;
    return Math.log(product);
  }
  const inverse = 1 / n;
  const series = inverse / 12 - inverse ** 3 / 360 + inverse ** 5 / 1260;
  return n * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI * n) + series;
}
