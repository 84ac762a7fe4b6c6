/** The part of a step's report about how far its result depends on chance. */
import type { Chance } from './chance.ts';
import { formatChance } from './format-chance.ts';

export interface StepChance {
  /** Probability that a faithful emulation fails the check; undefined where it was not computed. */
  readonly fails: number | undefined;
  /** A sentence for users about the chance. */
  readonly text: string;
  /** Probability of a failed check's result, and of all results as improbable, with a faithful emulation. */
  readonly pValue?: number;
}

/** Results that are rarer with a faithful emulation have another cause. */
const significance = 0.001;

/** Returns the part for a step's report. `arrived`: packets of a failed step. */
export function stepChance(chance: Chance | undefined, arrived: number | undefined): StepChance | undefined {
  if (!chance) return undefined;
  const { fails, text, distribution } = chance;
  if (arrived === undefined || !distribution) return { fails, text };
  const pValue = pValueOf(distribution, arrived);
  const verdict =
    pValue >= significance
      ? `chance alone may explain this result (${formatChance(pValue)})`
      : `chance alone does not explain this result (${formatChance(pValue)})`;
  return { fails, text: `${verdict}; the check ${text}`, pValue };
}

function pValueOf(distribution: readonly number[], arrived: number): number {
  const limit = (distribution[arrived] ?? 0) * (1 + 1e-9);
  return Math.min(
    1,
    distribution.reduce((sum, probability) => sum + (probability <= limit ? probability : 0), 0),
  );
}
