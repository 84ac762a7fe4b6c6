/**
 * Holds every frame for the latency, give or take a random jitter, never less than 0, and less what the path to another compute takes. The order
 * of frames is not its matter.
 */
import type { Distribution } from '../../schema/filter-table.ts';
import type { FilterMaker } from './filter.ts';
import type { Random } from './random.ts';

/** Values: latency in ms, jitter in ms. */
export const delay: FilterMaker = (values, { random, jitter, path }) => {
  const deviation = deviations[(jitter[0] ?? 'uniform') as Distribution];
  return {
    hold: (atMs) => {
      const latencyMs = Number(values[0]);
      const jitterMs = Number(values[1] ?? 0);
      return atMs + Math.max(0, latencyMs - path.oneWayMs + (jitterMs === 0 ? 0 : jitterMs * deviation(random)));
    },
    get overtakes() {
      return Number(values[1] ?? 0) > 0 && jitter[1] === 1;
    },
  };
};

/** The tail of a distribution ends here, in standard deviations: one frame must not hold up all that follow for minutes. */
const furthest = 10;
/** Pareto's shape: the least whole number for which there is a standard deviation. Mean and deviation follow for a minimum of 1. */
const paretoShape = 3;
const paretoMean = paretoShape / (paretoShape - 1);
const paretoDeviation = Math.sqrt(paretoShape / (paretoShape - 2)) / (paretoShape - 1);

/** Random numbers of mean 0. `uniform` lies within ±1, the others have a standard deviation of 1. */
const deviations: Record<Distribution, (random: Random) => number> = {
  uniform: (random) => 2 * random.fraction() - 1,
  // Box and Muller, 1958.
  normal: (random) => Math.sqrt(-2 * Math.log(1 - random.fraction())) * Math.cos(2 * Math.PI * random.fraction()),
  pareto: (random) => Math.min(furthest, ((1 - random.fraction()) ** (-1 / paretoShape) - paretoMean) / paretoDeviation),
};
