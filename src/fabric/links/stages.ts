/** The filters of one direction of a link, sorted by what they may do to a frame. */
import type { Waits } from '../delays/delay-queue.ts';
import type { BpfProgram } from '../filters/bpf.ts';
import type { NamedFilter } from '../filters/filter.ts';

/** Filters that act on the frames of a direction. */
export interface DirectionFilters {
  /** Filters in the order in which they act. */
  readonly chain: readonly NamedFilter[];
  /** Frames that do not match are not the chain's matter; undefined: all match. */
  readonly match: BpfProgram | undefined;
  /** Filters that act on every frame, before the chain and behind it, and neither hold nor repeat one. */
  readonly before: readonly NamedFilter[];
  readonly after: readonly NamedFilter[];
}

/** The filters of a direction by what they may do. */
export interface Stages extends Waits {
  readonly match: BpfProgram | undefined;
  /** Filters in place of `passing`, for frames that do not match. */
  readonly exempt: readonly NamedFilter[];
  /** Lose or change a frame. */
  readonly passing: readonly NamedFilter[];
  /** Send a frame twice. */
  readonly repeating: readonly NamedFilter[];
  /** Frames cannot be sent from where they were read. */
  readonly queues: boolean;
}

export function stagesOf({ chain, match, before, after }: DirectionFilters): Stages {
  if (chain.length + before.length + after.length === 0 && !match) return noStages;
  const holding = chain.filter(({ filter }) => filter.hold);
  const repeating = chain.filter(({ filter }) => filter.repeat);
  const displacing = chain.find(({ filter }) => filter.displace)?.filter;
  return {
    match,
    exempt: [...before, ...after],
    passing: [...before, ...chain.filter(({ filter }) => filter.pass), ...after],
    repeating,
    displacing,
    holding,
    overtakes: holding.some(({ filter }) => filter.overtakes),
    queues: holding.length > 0 || repeating.length > 0 || displacing !== undefined,
  };
}

export const noFilters: DirectionFilters = { chain: [], match: undefined, before: [], after: [] };
/** Stages of all directions that do nothing to their frames. */
export const noStages: Stages = {
  match: undefined,
  exempt: [],
  passing: [],
  repeating: [],
  displacing: undefined,
  holding: [],
  overtakes: false,
  queues: false,
};
