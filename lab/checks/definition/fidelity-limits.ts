/** Limits of the fidelity certificate. */
import { placed } from './check-error.ts';
import { type Range, readDuration, readRange } from './quantities.ts';
import type { FidelitySettings } from './step-schema.ts';

export interface FidelityLimits {
  /** Milliseconds. */
  readonly delayError: { readonly p50: number; readonly p99: number; readonly worst: number };
  /** Milliseconds; undefined: the defaults for labs with or without delays. */
  readonly loopLate: { readonly p99: number | undefined; readonly worst: number | undefined };
  readonly missedFrames: number;
  /** Probability. */
  readonly lossSignificance: number;
  /** Percent. */
  readonly steal: Range;
}

/** Longest delays of the fabric's event loop, ms. A lab without delays does not measure time, so its limits are higher. */
export const loopLimits = {
  delays: { p99: 20, worst: 200 },
  plain: { p99: 250, worst: 1000 },
} as const;

/** Reads the limits. @throws CheckError */
export function readFidelity(given: FidelitySettings): FidelityLimits {
  const ms = (field: Exclude<keyof FidelitySettings, 'missed_frames' | 'loss_significance' | 'steal'>) => {
    const text = given[field];
    return text === undefined ? undefined : placed(['test', 'fidelity', field], () => readDuration(text));
  };
  return {
    delayError: { p50: ms('delay_error_p50') ?? 1, p99: ms('delay_error_p99') ?? 10, worst: ms('delay_error_worst') ?? 100 },
    loopLate: { p99: ms('loop_late_p99'), worst: ms('loop_late_worst') },
    missedFrames: given.missed_frames ?? 0,
    lossSignificance: given.loss_significance ?? 1e-6,
    steal: placed(['test', 'fidelity', 'steal'], () => readRange(given.steal ?? '<= 20%', 'percent')),
  };
}
