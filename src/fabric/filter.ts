/**
 * What a filter is to the fabric, and the table of them. Each direction of a link has its own filters, with their own state and their
 * own random choices; only the count of `frequency_drop` is one for both, when it is given for both.
 */

import type { Filters, FilterValues, LinkDirection } from '../schema/filter.ts';
import type { FilterType } from '../schema/filter-table.ts';
import { filterTypes } from '../schema/filter-table.ts';
import type { Program } from './bpf.ts';
import { bandwidth } from './filter-bandwidth.ts';
import { bpf } from './filter-bpf.ts';
import { burstLoss } from './filter-burst-loss.ts';
import { corrupt } from './filter-corrupt.ts';
import { delay } from './filter-delay.ts';
import { duplicate } from './filter-duplicate.ts';
import { frequencyDrop } from './filter-frequency-drop.ts';
import { packetLoss } from './filter-packet-loss.ts';
import { reorder } from './filter-reorder.ts';
import { Random } from './random.ts';

export interface Filter {
  /** Looks at the frame `buffer[start, end)`, which it may change in place; false loses it. */
  pass?(buffer: Buffer, start: number, end: number): boolean;
  /** Whether the frame goes on twice. */
  repeat?(): boolean;
  /** How many later frames overtake it. */
  displace?(): number;
  /** When a frame of so many bytes that comes at `atMs` goes on; `lost` when it does not. */
  hold?(atMs: number, bytes: number): number;
  /** Frames that are held may overtake others that are held. */
  readonly overtakes?: boolean;
}

/** Instead of a time: the frame is not held but lost. */
export const lost = -1;

/** The filters of one direction by type, `latency` as the delay it is. */
export type DirectedFilters = Readonly<Partial<Record<Exclude<FilterType, 'latency'>, FilterValues>>>;

export interface FilterTools {
  readonly random: Random;
  readonly programs: readonly Program[];
  /** Values of `jitter`. */
  readonly jitter: FilterValues;
}

/** Makes a filter of its stored values (`schema/filter.ts`). */
export type FilterMaker = (values: FilterValues, tools: FilterTools) => Filter;

/** What stands in `filters` and says how another one acts. */
type Setting = 'latency' | 'jitter' | 'seed';
type ActingType = Exclude<FilterType, Setting>;

const makers: Record<ActingType, FilterMaker> = {
  frequency_drop: frequencyDrop,
  packet_loss: packetLoss,
  burst_loss: burstLoss,
  bpf,
  corrupt,
  duplicate,
  reorder,
  bandwidth,
  delay,
};
const actingTypes = filterTypes.filter((type): type is ActingType => type in makers);

/** What it loses is counted under `type`. */
export interface NamedFilter {
  readonly type: string;
  readonly filter: Filter;
}

/** A filter of a link, with what it was made of: while that stays the same, so does the filter and its state. */
export interface ActiveFilter extends NamedFilter {
  readonly type: ActingType;
  readonly madeOf: string;
}

export type Chains = Readonly<Record<LinkDirection, readonly ActiveFilter[]>>;
export const noChains: Chains = { ab: [], ba: [] };

export interface ChainSpec {
  readonly filters: Filters;
  readonly seed: number;
  /** Those of `bpf` in each direction. */
  readonly programs: Readonly<Record<LinkDirection, readonly Program[]>>;
  /** Identity of the programs. */
  readonly programsText: string;
}

/** The filters of a link in the order in which they act, taking over from `previous` those that did not change. */
export function buildChains(spec: ChainSpec, previous: Chains): Chains {
  const ab = buildChain(spec, 'ab', previous.ab);
  const ba = buildChain(spec, 'ba', previous.ba);
  if (spec.filters.frequency_drop_ab || spec.filters.frequency_drop_ba) return { ab, ba };
  return { ab, ba: ba.map((active) => (active.type === 'frequency_drop' ? (ab.find(isFrequencyDrop) ?? active) : active)) };
}

const isFrequencyDrop = ({ type }: ActiveFilter) => type === 'frequency_drop';

function buildChain(spec: ChainSpec, direction: LinkDirection, previous: readonly ActiveFilter[]): ActiveFilter[] {
  const filters = filtersOf(spec.filters, direction);
  const jitter = filters.jitter ?? [];
  return actingTypes.flatMap((type) => {
    const values = filters[type];
    if (!values || values.length === 0) return [];
    const also = type === 'delay' ? jitter : type === 'bpf' ? spec.programsText : '';
    const madeOf = JSON.stringify([values, spec.seed, also]);
    const same = previous.find((active) => active.type === type && active.madeOf === madeOf);
    if (same) return [same];
    const random = new Random(spec.seed, `${type}_${direction}`);
    return [{ type, madeOf, filter: makers[type](values, { random, programs: spec.programs[direction], jitter }) }];
  });
}

/** What acts in a direction: what is given for it alone, else what is given for both. */
export function filtersOf(filters: Filters, direction: LinkDirection): DirectedFilters {
  const found: Partial<Record<FilterType, FilterValues>> = {};
  for (const type of filterTypes) {
    const values = filters[`${type}_${direction}`] ?? filters[type];
    if (values) found[type] = values;
  }
  const { latency: _latency, ...rest } = found;
  const delay = filters[`delay_${direction}`] ?? filters[`latency_${direction}`] ?? filters.delay ?? filters.latency;
  return { ...rest, ...(delay && { delay }) };
}
