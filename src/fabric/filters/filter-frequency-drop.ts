/** Loses the Nth, 2Nth, 3Nth … frame of both directions together. -1 loses all; 0 and other negative numbers lose none. */
import type { FilterMaker } from './filter.ts';

export const frequencyDrop: FilterMaker = (values) => {
  const every = Number(values[0]);
  if (every === -1) return { pass: () => false };
  let count = 0;
  return {
    pass() {
      if (every <= 0) return true;
      count += 1;
      if (count !== every) return true;
      count = 0;
      return false;
    },
  };
};
