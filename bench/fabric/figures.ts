export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Bounds of the median by the order of the values (sign test): at most 5 % of samples have it outside. */
function medianInterval(values: readonly number[]): [low: number, high: number] {
  const sorted = values.toSorted((one, other) => one - other);
  let [skipped, chance, term] = [0, 0, 0.5 ** sorted.length];
  for (; chance + term <= 0.025; skipped += 1) {
    chance += term;
    term *= (sorted.length - skipped) / (skipped + 1);
  }
  const from = Math.max(0, skipped - 1);
  return [sorted[from] as number, sorted[sorted.length - 1 - from] as number];
}

/** Figures of ways that take turns: each round adds one to every way. */
export class Turns {
  readonly #figures = new Map<string, number[]>();

  note(way: string, figure: number): void {
    this.#figures.set(way, [...(this.#figures.get(way) ?? []), figure]);
  }

  /** The last figures, on one line. */
  get last(): string {
    return JSON.stringify(Object.fromEntries([...this.#figures].map(([way, all]) => [way, all.at(-1)])));
  }

  /** A table of medians, and of the ratios to the way that each is compared with in the same round. */
  table(unit: string, reference: (way: string) => string, digits = 0): string {
    const head = `| way | ${unit}, median | compared with | ratio in the same round, median | 95 % interval |\n|---|---:|---|---:|---|`;
    const rows = [...this.#figures].map(([way, all]) => {
      const of = this.#figures.get(reference(way)) ?? [];
      const ratios = all.map((figure, round) => figure / (of[round] ?? Number.NaN));
      const interval = medianInterval(ratios).map((ratio) => ratio.toFixed(2));
      const cells = [way, median(all).toFixed(digits), reference(way), median(ratios).toFixed(2), interval.join(' to ')];
      return `| ${cells.join(' | ')} |`;
    });
    return [head, ...rows].join('\n');
  }
}
