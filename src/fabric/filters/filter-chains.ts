/**
 * The table of filters, and the chain of them in each direction of a link. Only the count of `frequency_drop` is one for both
 * directions, when it is given for both.
 */
import type { Filters, FilterValues, LinkDirection } from '../../schema/filter.ts';
import type { FilterType } from '../../schema/filter-table.ts';
import { filterTypes } from '../../schema/filter-table.ts';
import type { FilterState } from '../protocol.ts';
import type { BpfProgram } from './bpf.ts';
import type { FilterMaker, LinkPath, NamedFilter } from './filter.ts';
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

/** The filters of one direction by type, `latency` as the delay it is. */
type DirectedFilters = Readonly<Partial<Record<Exclude<FilterType, 'latency'>, FilterValues>>>;

/** Entries of `filters` that change how another filter acts. */
type FilterSetting = 'latency' | 'jitter' | 'match' | 'seed';
type ActingType = Exclude<FilterType, FilterSetting>;

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

/** A filter of a link, with what it was made of: while that stays the same, so does the filter and its state. */
export interface ActiveFilter extends NamedFilter {
  readonly type: ActingType;
  readonly madeOf: FilterOrigin;
  /** Values that the filter reads. */
  readonly values: (number | string)[];
  readonly random: Random;
}

interface FilterOrigin {
  readonly seed: number;
  readonly isScheduled: boolean;
  /** Jitter of a delay; empty for other filters. */
  readonly jitter: FilterValues;
  readonly programs: readonly BpfProgram[];
}

export type Chains = Readonly<Record<LinkDirection, readonly ActiveFilter[]>>;
export const noChains: Chains = { ab: [], ba: [] };

interface ChainSpec {
  readonly filters: Filters;
  readonly seed: number;
  /** Programs of the `bpf` filter in each direction; the same list while they are the same. */
  readonly programs: Readonly<Record<LinkDirection, readonly BpfProgram[]>>;
  /** A schedule gives the values: a filter keeps its state when they change. */
  readonly isScheduled: boolean;
  /** States at which new filters of each direction continue. */
  readonly continued?: Readonly<Record<LinkDirection, readonly FilterState[]>>;
  readonly path: LinkPath;
}

/**
 * The filters of a link in the order in which they act, taking over from `previous` those that did not change. With a schedule,
 * `previous` are all that the link had since the schedule was set: one that is off for a while continues.
 */
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
  const programs = spec.programs[direction];
  return actingTypes.flatMap((type) => {
    const values = filters[type];
    if (!values || values.length === 0) return [];
    const same = previous.find((active) => active.type === type && isMadeOf(active, { spec, programs, values, jitter }));
    if (same) {
      if (spec.isScheduled) same.values.splice(0, same.values.length, ...values);
      return [same];
    }
    const { seed, isScheduled } = spec;
    const madeOf = { seed, isScheduled, jitter, programs };
    const random = new Random(spec.seed, `${type}_${direction}`);
    const given = [...values];
    const filter = makers[type](given, { random, programs, jitter, path: spec.path });
    const made = { type, madeOf, values: given, filter, random };
    if (spec.continued) continueFilter(made, spec.continued[direction]);
    return [made];
  });
}

/** Longest queue time taken over from a filter's state: the longest delay that a filter can have. */
const longestQueueMs = 3_600_000;

export function stateOf({ type, filter, random }: ActiveFilter, nowMs: number): FilterState {
  const { freeAtMs, position = freeAtMs && Math.max(0, freeAtMs - nowMs) } = filter;
  return { type, random: random.state, ...(position !== undefined && { position }) };
}

/** Nothing happens to a filter that is not among them. `nowMs`: without it a queue is empty by now. */
export function continueFilter({ type, filter, random }: ActiveFilter, states: readonly FilterState[], nowMs?: number): void {
  const state = states.find((one) => one.type === type);
  if (!state) return;
  random.continueAt(state.random);
  if (state.position === undefined) return;
  if (filter.freeAtMs === undefined) filter.position = state.position;
  else if (nowMs !== undefined) filter.freeAtMs = nowMs + Math.min(longestQueueMs, Math.max(0, state.position));
}

/** Compares without making any text, because a ramp asks every millisecond. */
function isMadeOf(
  { type, madeOf, values: present }: ActiveFilter,
  { spec, programs, values, jitter }: { spec: ChainSpec; values: FilterValues } & Pick<FilterOrigin, 'programs' | 'jitter'>,
): boolean {
  if (madeOf.seed !== spec.seed || madeOf.isScheduled !== spec.isScheduled) return false;
  if (type === 'bpf' && madeOf.programs !== programs) return false;
  return (type !== 'delay' || isSameList(madeOf.jitter, jitter)) && (spec.isScheduled || isSameList(present, values));
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}

const keysIn = (direction: LinkDirection) => filterTypes.map((type) => [type, `${type}_${direction}`] as const);
const keysOf = { ab: keysIn('ab'), ba: keysIn('ba') };

/** Filters that act in a direction: one given for this direction takes the place of one given for both. */
export function filtersOf(filters: Filters, direction: LinkDirection): DirectedFilters {
  const found: Partial<Record<FilterType, FilterValues>> = {};
  for (const [type, directed] of keysOf[direction]) {
    const values = filters[directed] ?? filters[type];
    if (values) found[type] = values;
  }
  const { latency: _latency, ...rest } = found;
  const delay = filters[`delay_${direction}`] ?? filters[`latency_${direction}`] ?? filters.delay ?? filters.latency;
  return { ...rest, ...(delay && { delay }) };
}
