/** Loses the Nth, 2Nth, 3Nth … frame of both directions together. -1 loses all; 0 and other negative numbers lose none. */
import type { FilterMaker } from './filter.ts';

export const frequencyDrop: FilterMaker = (values) => {
  let count = 0;
  return {
    get position() {
      return count;
    },
    set position(position) {
      count = position;
    },
    pass() {
      const every = Number(values[0]);
      if (every <= 0) return every !== -1;
      count += 1;
      if (count < every) return true;
      count = 0;
      return false;
    },
  };
};
