/** Sends each frame twice with the given chance in percent, one right after the other. */
import type { FilterMaker } from './filter.ts';

export const duplicate: FilterMaker = (values, { random }) => ({ repeat: () => random.chance(Number(values[0])) });
