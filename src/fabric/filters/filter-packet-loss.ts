/** Loses each frame with the given chance in percent: 0 none, 100 all. */
import type { FilterMaker } from './filter.ts';

export const packetLoss: FilterMaker = (values, { random }) => ({ pass: () => !random.chance(Number(values[0])) });
