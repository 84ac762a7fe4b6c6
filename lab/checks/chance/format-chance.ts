/** Formats a probability for users: `1 in 48`, `1 in 1,200,000`, `70 %`. */
export function formatChance(probability: number): string {
  if (probability <= 1e-12) return 'less than 1 in 1,000,000,000,000';
  if (probability >= 0.2) return `${Math.round(probability * 100)} %`;
  const inverse = Number((1 / probability).toPrecision(2));
  return `1 in ${inverse.toLocaleString('en-US')}`;
}
