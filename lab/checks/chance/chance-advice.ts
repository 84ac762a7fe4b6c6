/** Computes how to change a check so that it does not depend on luck: more packets, or a wider range. */
import { failing, ofCount, type PacketCheck, unlikely } from './packet-check.ts';

/** Most packets that are advised; more take minutes. */
const mostPackets = 2000;
const factors = [1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50];

type DistributionOf = (count: number) => readonly number[];

export function advise(check: PacketCheck, distributionOf: DistributionOf, isSeeded: boolean): string | undefined {
  const { count, packets } = check;
  if (failing(check, distributionOf(count)) <= unlikely) return undefined;
  const more = factors
    .map((factor) => roundedUp(count * factor))
    .find((larger) => {
      if (larger > mostPackets) return false;
      const ranges = { loss: check.loss, received: check.received, needsOne: false };
      return failing(ofCount(larger, ranges), distributionOf(larger)) <= unlikely;
    });
  const wider = widened(check, distributionOf(count));
  const isUsual = failing(check, distributionOf(count)) > 0.5;
  const average = distributionOf(count).reduce((sum, probability, arrived) => sum + probability * arrived, 0);
  const parts = [
    ...(more === undefined ? [] : [`send ${more} ${packets}`]),
    ...(wider === undefined ? [] : [`widen ${wider}`]),
    ...(isUsual ? [`expect that ${Math.round(100 - (100 * average) / count)} % are lost on average`] : []),
    ...(isSeeded || isUsual ? [] : ['fix a seed']),
  ];
  return parts.length === 0 ? undefined : parts.join(', or ');
}

/** Rounds up to two digits. */
function roundedUp(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit) * unit;
}

/** Formats the range with its bounds moved outwards as far as needed. */
function widened({ count, loss, received }: PacketCheck, distribution: readonly number[]): string | undefined {
  const [least, most] = [quantile(distribution, 1), quantile(distribution, -1)];
  if (loss && !received) {
    const min = Math.min(Math.max(0, loss.min), Math.floor((100 * (count - most)) / count));
    const max = Math.max(Math.min(100, loss.max), Math.ceil((100 * (count - least)) / count));
    return min === 0 && max === 100 ? undefined : `loss to ${min}%..${max}%`;
  }
  if (!received || loss) return undefined;
  const min = Math.min(received.min, least);
  if (received.max >= count) return `received to >= ${Math.max(0, min)}`;
  return `received to ${Math.max(0, min)}..${Math.max(received.max, most)}`;
}

/** Finds the count beyond which, from one end of the distribution, half of the improbable counts lie. */
function quantile(distribution: readonly number[], step: 1 | -1): number {
  let [at, sum] = [step === 1 ? 0 : distribution.length - 1, 0];
  for (; at >= 0 && at < distribution.length; at += step) {
    sum += distribution[at] as number;
    if (sum > unlikely / 2) break;
  }
  return Math.min(distribution.length - 1, Math.max(0, at));
}
