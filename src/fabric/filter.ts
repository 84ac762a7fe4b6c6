/**
 * What a filter is to the fabric, and the table of them. One filter object serves both directions of its link, so a state such as a
 * frame counter is shared by them.
 */
import { type Filters, type FilterType, filterTypes } from '../schema/filter.ts';
import type { Program } from './bpf.ts';
import { bpf } from './filter-bpf.ts';
import { corrupt } from './filter-corrupt.ts';
import { delay, latency } from './filter-delay.ts';
import { frequencyDrop } from './filter-frequency-drop.ts';
import { packetLoss } from './filter-packet-loss.ts';
import type { Random } from './random.ts';

export interface Filter {
  /** Looks at the frame `buffer[start, end)`, which it may change in place; false loses it. */
  pass?(buffer: Buffer, start: number, end: number): boolean;
  /** How long the frame that just passed is held, in ms. */
  hold?(): number;
}

export interface FilterTools {
  readonly random: Random;
  readonly programs: readonly Program[];
}

/** Makes a filter of its stored values (`schema/filter.ts`). */
export type FilterMaker = (values: readonly (number | string)[], tools: FilterTools) => Filter;

const makers: Record<FilterType, FilterMaker> = {
  frequency_drop: frequencyDrop,
  packet_loss: packetLoss,
  bpf,
  corrupt,
  delay,
  latency,
};

/** A filter of a link, with what it was made of: while that stays the same, so does the filter and its state. */
export interface ActiveFilter {
  readonly type: FilterType;
  readonly madeOf: string;
  readonly filter: Filter;
}

export interface ChainSpec {
  readonly filters: Filters;
  /** Identity of the BPF programs among `tools`. */
  readonly programsText: string;
}

/** The filters of a link in the order in which they act, taking over from `previous` those that did not change. */
export function buildChain(spec: ChainSpec, tools: FilterTools, previous: readonly ActiveFilter[]): ActiveFilter[] {
  const chain: ActiveFilter[] = [];
  for (const type of filterTypes) {
    const values = spec.filters[type];
    if (!values || values.length === 0) continue;
    const madeOf = JSON.stringify(values) + (type === 'bpf' ? spec.programsText : '');
    const same = previous.find((active) => active.type === type && active.madeOf === madeOf);
    chain.push(same ?? { type, madeOf, filter: makers[type](values, tools) });
  }
  return chain;
}
