/**
 * What a filter is to the fabric. Each direction of a link has its own filters, with their own state and their own random choices.
 */
import type { FilterValues } from '../../schema/filter.ts';
import type { BpfProgram } from './bpf.ts';
import type { Random } from './random.ts';

export interface Filter {
  /** Looks at the frame `buffer[start, end)`, which it may change in place; false loses it. */
  pass?(buffer: Buffer, start: number, end: number): boolean;
  /** Whether the frame is sent twice. */
  repeat?(): boolean;
  /** How many later frames overtake it. */
  displace?(): number;
  /** When a frame of so many bytes that arrives at `atMs` is sent; `lost` when it is dropped. */
  hold?(atMs: number, bytes: number): number;
  /** Frames that are held may overtake others that are held. */
  readonly overtakes?: boolean;
  /** What its next frame depends on besides random numbers and values. */
  position?: number;
  /** When the frames before are sent, milliseconds of `performance.now()`. */
  freeAtMs?: number;
}

/** Instead of a time: the frame is not held but lost. */
export const lost = -1;

export interface FilterTools {
  readonly random: Random;
  readonly programs: readonly BpfProgram[];
  /** Values of `jitter`. */
  readonly jitter: FilterValues;
  readonly path: LinkPath;
}

/** What a link delays its frames by itself. */
export interface LinkPath {
  /** From one end to the other, milliseconds; 0: both are on this compute, or it is not known. */
  readonly oneWayMs: number;
}

export const noPath: LinkPath = { oneWayMs: 0 };

/** Makes a filter of its stored values (`schema/filter.ts`), which a schedule changes while the filter acts. */
export type FilterMaker = (values: FilterValues, tools: FilterTools) => Filter;

/** What it loses is counted under `type`. */
export interface NamedFilter {
  readonly type: string;
  readonly filter: Filter;
}
