/** Lets later frames overtake a frame, with the given chance in percent. */
import type { FilterMaker } from './filter.ts';

/** Values: percent, and how many frames overtake, 0 as 1. */
export const reorder: FilterMaker = (values, { random }) => ({
  displace: () => (random.chance(Number(values[0])) ? Number(values[1] ?? 0) || 1 : 0),
});
