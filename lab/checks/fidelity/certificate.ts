/** The fidelity certificate compares the emulation's behaviour with its settings. */
import { type FidelityLimits, loopLimits } from '../definition/fidelity-limits.ts';
import { isWithin } from '../definition/quantities.ts';
import { binomialTail } from './binomial.ts';
import type { LateQuantiles } from './late-quantiles.ts';

/** Figures of one direction of a link. */
export interface LinkFidelity {
  readonly name: string;
  readonly frames: number;
  /** Delay of held frames beyond their due time, ms. */
  readonly delayError: LateQuantiles;
  /** Time by which the path between two computes exceeds the configured delay, ms. */
  readonly excessMs?: number;
  /** Configured delays, as filters. */
  readonly delays: readonly string[];
  readonly losses: readonly LossFidelity[];
  /** Frames that the fabric dropped because its queue was full. */
  readonly overflow: number;
}

/** Figures for the time in which one loss was configured. */
export interface LossFidelity {
  readonly percent: number;
  readonly frames: number;
  readonly lost: number;
}

export interface HostFidelity {
  readonly computeId: string;
  /** Delay of the fabric's event loop, ms. */
  readonly loopLate: LateQuantiles;
  readonly stealPercent: number;
  /** Reason why the compute could not be measured. */
  readonly failure: string | undefined;
}

export interface Measured {
  readonly links: readonly LinkFidelity[];
  readonly computes: readonly HostFidelity[];
  readonly captures: readonly { readonly link: string; readonly missed: number }[];
  /** Reasons why the measurement is incomplete. */
  readonly failures: readonly string[];
}

export interface Certificate extends Measured {
  readonly isFaithful: boolean;
  /** Reasons why the emulation was not faithful; one sentence each. */
  readonly reasons: readonly string[];
  /** Advice where the machine's load was the cause. */
  readonly advice: string | undefined;
}

const advice =
  'The machine was too busy for this lab. End other programs, use fewer nodes, or another machine, and run the test again. `test.fidelity` sets the limits: docs/verdicts.md';

export function certify(measured: Measured, limits: FidelityLimits): Certificate {
  const hasDelays = measured.links.some(({ delays }) => delays.length > 0);
  const ofLoad = [
    ...measured.links.flatMap((link) => lateReasons(link, limits)),
    ...measured.computes.flatMap((host) => hostReasons(host, limits, hasDelays)),
    ...measured.captures.flatMap(({ link, missed }) =>
      missed > limits.missedFrames
        ? [`the capture of ${link} missed ${missed} frames, at most ${limits.missedFrames} are allowed`]
        : [],
    ),
  ];
  const others = [
    ...measured.failures,
    ...measured.computes.flatMap(({ computeId, failure }) => (failure === undefined ? [] : [`compute ${computeId}: ${failure}`])),
    ...measured.links.flatMap((link) => otherReasons(link, limits)),
  ];
  const reasons = [...others, ...ofLoad];
  return { ...measured, isFaithful: reasons.length === 0, reasons, advice: ofLoad.length > 0 ? advice : undefined };
}

function lateReasons({ name, delayError, overflow }: LinkFidelity, limits: FidelityLimits): string[] {
  const late = (['p50', 'p99', 'worst'] as const).flatMap((figure) =>
    delayError[figure] > limits.delayError[figure]
      ? [`${name}: frames left ${delayError[figure]} ms late (${figure}), at most ${limits.delayError[figure]} ms are allowed`]
      : [],
  );
  return [...late, ...(overflow > 0 ? [`${name}: ${overflow} frames were dropped because the queue of the fabric was full`] : [])];
}

/** Returns the reasons other than the machine's load. */
function otherReasons({ name, delays, excessMs = 0, losses }: LinkFidelity, limits: FidelityLimits): string[] {
  const unlikely = losses.flatMap(({ percent, frames, lost }) => {
    const probability = binomialTail(frames, lost, percent / 100);
    if (probability >= limits.lossSignificance) return [];
    return [
      `${name}: ${lost} of ${frames} frames were lost with a loss of ${percent} %: the probability of that is ${probability.toExponential(1)}`,
    ];
  });
  return [
    ...(delays.length > 0 && excessMs > limits.delayError.p50
      ? [`${name}: the path between its computes takes ${round(excessMs)} ms longer than the delay that was set`]
      : []),
    ...unlikely,
  ];
}

function hostReasons(
  { computeId, loopLate, stealPercent, failure }: HostFidelity,
  limits: FidelityLimits,
  hasDelays: boolean,
): string[] {
  if (failure !== undefined) return [];
  const byDefault = hasDelays ? loopLimits.delays : loopLimits.plain;
  const late = (['p99', 'worst'] as const).flatMap((figure) => {
    const most = limits.loopLate[figure] ?? byDefault[figure];
    return loopLate[figure] > most
      ? [`compute ${computeId}: the fabric was ${loopLate[figure]} ms late (${figure}), at most ${most} ms are allowed`]
      : [];
  });
  const isStolen = !isWithin(limits.steal, stealPercent);
  return [...late, ...(isStolen ? [`compute ${computeId}: the host withheld ${round(stealPercent)} % of the processor time`] : [])];
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
