/**
 * The interface between a filter and its link. Each direction of a link has its own filters, with their own state and their own random
 * choices.
 */
import type { FilterValues } from '../../schema/filter.ts';
import type { BpfProgram } from './bpf.ts';
import type { Random } from './random.ts';

export interface Filter {
  /** Looks at the frame `buffer[start, end)`, which it may change in place; false loses it. */
  pass?(buffer: Buffer, start: number, end: number): boolean;
  /** Whether the frame is sent twice. */
  repeat?(): boolean;
  /** Number of later frames that overtake this one. */
  displace?(): number;
  /** Time at which a frame of so many bytes that arrives at `atMs` is sent; `lost` when it is dropped. */
  hold?(atMs: number, bytes: number): number;
  /** Frames that are held may overtake others that are held. */
  readonly overtakes?: boolean;
  /** State besides random numbers and values on which the treatment of the next frame depends. */
  position?: number;
  /** Time at which the earlier frames are sent, milliseconds of `performance.now()`. */
  freeAtMs?: number;
}

/** Value in place of a time: the frame is not held but lost. */
export const lost = -1;

interface FilterTools {
  readonly random: Random;
  readonly programs: readonly BpfProgram[];
  /** Values of `jitter`. */
  readonly jitter: FilterValues;
  readonly path: LinkPath;
}

/** Delay of a link's own path. */
export interface LinkPath {
  /** Delay from one end to the other, milliseconds; 0: both are on this compute, or it is not known. */
  readonly oneWayMs: number;
}

export const noPath: LinkPath = { oneWayMs: 0 };

/** Makes a filter of its stored values (`schema/filter.ts`), which a schedule changes while the filter acts. */
export type FilterMaker = (values: FilterValues, tools: FilterTools) => Filter;

/** A filter, and the cause under which its lost frames are counted. */
export interface NamedFilter {
  readonly type: string;
  readonly filter: Filter;
}
