/** Converts a link's filters that lose frames at random to probabilities. */
import type { Filters, FilterValues, LinkDirection } from '../../../src/schema/filter.ts';
import type { LossyHop } from './loss-chain.ts';

const random = ['packet_loss', 'burst_loss', 'corrupt'] as const;
/** Filters whose effect depends on frames that the file does not tell. */
const uncertain = {
  frequency_drop: 'every nth frame',
  bpf: 'frames of an expression',
  match: 'frames of an expression only',
} as const;

const valuesOf = (filters: Filters, type: string, direction: LinkDirection): FilterValues =>
  (filters as Readonly<Record<string, FilterValues>>)[`${type}_${direction}`] ??
  (filters as Readonly<Record<string, FilterValues>>)[type] ??
  [];

/** Whether frames are lost at random, in one direction at least. */
export function isRandom(filters: Filters): boolean {
  return random.some((type) => (['ab', 'ba'] as const).some((direction) => Number(valuesOf(filters, type, direction)[0] ?? 0) > 0));
}

/**
 * Returns the loss in one direction; a sentence where it is unknown. A damaged frame counts as lost, because its checksum is wrong.
 */
export function lossOf(filters: Filters, direction: LinkDirection): LossyHop | string {
  const share = (type: string, index = 0) => Number(valuesOf(filters, type, direction)[index] ?? 0) / 100;
  for (const [type, what] of Object.entries(uncertain)) {
    const [value = 0] = valuesOf(filters, type, direction);
    if (value !== 0 && value !== '') return `a link on its way loses ${what} (${type})`;
  }
  const loss = 1 - (1 - share('packet_loss')) * (1 - share('corrupt'));
  const begins = share('burst_loss');
  if (begins === 0) return { loss };
  // Defaults of values that are left out: `schema/filter-table.ts`.
  const [, ends = 100 - begins * 100, good = 0, bad = 100] = valuesOf(filters, 'burst_loss', direction).map(Number);
  return { loss, burst: { begins, ends: ends / 100, lossWhenGood: good / 100, lossWhenBad: bad / 100 } };
}
