/** Computes the chance of a check that counts captured packets while pings run. */

import type { LabLink } from '../../file/lab.ts';
import type { CheckStep, StepGroup } from '../definition/steps.ts';
import type { PathLink } from './lab-path.ts';
import { binomial, type LossyHop } from './loss-chain.ts';
import { packetsOf } from './packet-check.ts';

type CaptureGroup = Extract<StepGroup, { verb: 'capture' }>;
type Hops = readonly (LossyHop & { readonly at: PathLink })[];

interface StepFacts {
  hopsOf(step: CheckStep): Hops | string | undefined;
  failsOf(step: CheckStep): number;
}

/** Expressions that match all frames of a ping, and no frames of address resolution. */
const pingsOnly = /^\s*(vlan(\s+\d+)?(\s+and)?\s*)*icmp\s*$/;

/**
 * Computes an upper bound of the probability that the capture or a step inside fails; undefined where it is unknown, or where
 * nothing depends on chance. Packets of steps whose path does not include the link are not counted.
 */
export function captureChance(
  group: CaptureGroup,
  link: LabLink | undefined,
  { hopsOf, failsOf }: StepFacts,
): { fails: number } | undefined {
  if (!link || !pingsOnly.test(group.filter ?? '')) return undefined;
  let counts = [1];
  let ofSteps = 0;
  for (const step of group.steps) {
    const [check, hops] = [packetsOf(step), hopsOf(step)];
    if (step.what.verb !== 'ping' || !check || typeof hops !== 'object' || step.repetition) return undefined;
    if (hops.some(({ burst }) => burst)) return undefined;
    ofSteps += failsOf(step);
    const seen = seenFrames(hops, link, group.side);
    for (let sent = 0; sent < check.count; sent += 1) counts = convolved(counts, seen);
  }
  const accepts = (packets: number) =>
    group.judge({ packets, senders: Number.NaN }).every((problem) => !problem.startsWith('the number of matching'));
  const fails = counts.reduce((sum, probability, packets) => sum + (accepts(packets) ? 0 : probability), 0);
  return { fails: Math.min(1, fails + ofSteps) };
}

/** Element `k`: the probability that the capture sees `k` frames of one ping. */
function seenFrames(hops: Hops, link: LabLink, side: CaptureGroup['side']): number[] {
  let alive = 1;
  let counts = [1];
  for (const { loss, at } of hops) {
    const isHere = at.link === link;
    const passes = alive * (1 - loss);
    const seen = side === 'before' ? alive : passes;
    // The counts refer to packets that are alive here: the later count needs the earlier one.
    if (isHere) counts = counts.length === 1 ? [1 - seen, seen] : [counts[0] as number, (counts[1] as number) - seen, seen];
    alive = passes;
  }
  return counts.length === 1 ? binomial(0, 0) : counts;
}

function convolved(one: readonly number[], other: readonly number[]): number[] {
  const sum = new Array<number>(one.length + other.length - 1).fill(0);
  for (const [i, p] of one.entries()) for (const [j, q] of other.entries()) sum[i + j] = (sum[i + j] as number) + p * q;
  return sum;
}
