/**
 * Holds every frame for the latency, plus or minus a uniformly distributed jitter, never less than 0. The frames wait in the
 * direction's delay line, which keeps their order.
 */
import type { FilterMaker } from './filter.ts';

/** Values: latency in ms, jitter in ms. */
export const delay: FilterMaker = (values, { random }) => {
  const latencyMs = Number(values[0]);
  const jitterMs = Number(values[1] ?? 0);
  if (jitterMs === 0) return { hold: () => latencyMs };
  return { hold: () => Math.max(0, latencyMs + (2 * random.fraction() - 1) * jitterMs) };
};

/** Values: latency in ms. */
export const latency: FilterMaker = (values, tools) => delay(values.slice(0, 1), tools);
