/**
 * Loses frames in bursts: a chain of two states, each with its own loss. Source: E. N. Gilbert (1960), E. O. Elliott (1963); the
 * standard values are those of netem's `loss gemodel`.
 */
import type { FilterMaker } from './filter.ts';

/** Values, all in percent: good to bad, bad to good, loss while good, loss while bad. */
export const burstLoss: FilterMaker = (values, { random }) => {
  let isBad = false;
  return {
    get position() {
      return isBad ? 1 : 0;
    },
    set position(position) {
      isBad = position === 1;
    },
    pass() {
      const begins = Number(values[0]);
      const ends = Number(values[1] ?? 100 - begins);
      if (random.chance(isBad ? ends : begins)) isBad = !isBad;
      return !random.chance(Number(isBad ? (values[3] ?? 100) : (values[2] ?? 0)));
    },
  };
};
