/** Describes a check that counts packets: how many are sent, and which counts it accepts. */
import type { CountRanges } from '../definition/judges.ts';
import { isWithin, type Range } from '../definition/quantities.ts';
import type { CheckStep } from '../definition/steps.ts';

export interface PacketCheck {
  /** Packets that are sent. */
  readonly count: number;
  /** Word for the packets in messages. */
  readonly packets: 'pings' | 'packets';
  readonly loss: Range | undefined;
  readonly received: Range | undefined;
  accepts(received: number): boolean;
  /** Whether the check tests that there is no route. */
  readonly acceptsOnlyNone: boolean;
  /** Duration of one try, ms. */
  readonly lastsMs: number;
}

/** Checks with a smaller failure probability do not depend on luck: once in a million runs. */
export const unlikely = 1e-6;

/**
 * Returns the probability of the counts that the check does not accept. `distribution[k]`: the probability that `k` packets arrive.
 */
export function failing(check: Pick<PacketCheck, 'accepts'>, distribution: readonly number[]): number {
  return Math.min(
    1,
    distribution.reduce((sum, probability, count) => sum + (check.accepts(count) ? 0 : probability), 0),
  );
}

/** Returns the packets of a step; undefined for a step that counts none, or whose packets are in a file. */
export function packetsOf({ what }: CheckStep): PacketCheck | undefined {
  if (what.verb === 'ping') {
    const { count, intervalMs, timeoutMs } = what.settings;
    return packetCheck(what.counts, { count, packets: 'pings', lastsMs: count * intervalMs + timeoutMs });
  }
  if (what.verb !== 'traffic' || what.packets.how === 'replay') return undefined;
  const { rate, forMs } = what.packets;
  return packetCheck(what.counts, { count: Math.max(1, Math.floor((rate * forMs) / 1000)), packets: 'packets', lastsMs: forMs });
}

function packetCheck(ranges: CountRanges, facts: Pick<PacketCheck, 'count' | 'packets' | 'lastsMs'>): PacketCheck {
  return { ...facts, ...ofCount(facts.count, ranges) };
}

/** Applies the same expectations to another number of packets. */
export function ofCount(count: number, { loss, received, needsOne }: CountRanges): Omit<PacketCheck, 'packets' | 'lastsMs'> {
  const accepts = (arrived: number) =>
    (!loss || isWithin(loss, (100 * (count - arrived)) / count)) &&
    (!received || isWithin(received, arrived)) &&
    (arrived > 0 || !needsOne);
  const isFirst = accepts(0);
  const acceptsOnlyNone = isFirst && Array.from({ length: count }, (_, index) => index + 1).every((one) => !accepts(one));
  return { count, loss, received, accepts, acceptsOnlyNone };
}
