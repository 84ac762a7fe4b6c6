/**
 * Typical lines in round figures, for trials. The link's first node is the subscriber:
 * `ab` is up, `ba` is down.
 */
import { texts } from '../texts.ts';
import type { FilterObject } from './form.ts';

export interface Preset {
  readonly id: keyof typeof texts.impair.presets;
  readonly filters: FilterObject;
}

export const presets: readonly Preset[] = [
  // ADSL2+ at some distance from the exchange, interleaved.
  { id: 'dsl', filters: { bandwidth_ab: [1_000], bandwidth_ba: [16_000], delay: [15, 2] } },
  // HSPA in a town, seldom idle.
  {
    id: 'umts',
    filters: { bandwidth_ab: [400], bandwidth_ba: [2_000], delay: [60, 20], jitter: [0, 'normal'], packet_loss: [0.5] },
  },
  {
    id: 'lte',
    filters: { bandwidth_ab: [10_000], bandwidth_ba: [40_000], delay: [25, 8], jitter: [0, 'normal'], packet_loss: [0.1] },
  },
  // The way to a geostationary orbit of 35,786 km and down takes 240 ms at the speed of light, plus coding.
  { id: 'satellite', filters: { bandwidth_ab: [3_000], bandwidth_ba: [20_000], delay: [270, 5], packet_loss: [0.2] } },
  { id: 'wifi', filters: { bandwidth: [20_000], delay: [4, 6], jitter: [0, 'pareto'], burst_loss: [1, 30, 0.1, 40] } },
  // 25 ms in each direction.
  { id: 'wan', filters: { bandwidth: [100_000], delay: [25] } },
];

/** The figures of a preset. */
export function presetFigures(filters: FilterObject): string {
  const { figures } = texts.impair;
  const number = (key: string, place = 0): number => Number(filters[key]?.[place] ?? 0);
  const parts: string[] = [];
  if (filters.bandwidth_ab) parts.push(figures.upAndDown(number('bandwidth_ab'), number('bandwidth_ba')));
  if (filters.bandwidth) parts.push(figures.bandwidth(number('bandwidth')));
  if (filters.delay) parts.push(figures.delay(number('delay'), number('delay', 1)));
  if (filters.packet_loss) parts.push(figures.loss(number('packet_loss')));
  if (filters.burst_loss) parts.push(figures.burst(number('burst_loss'), number('burst_loss', 3)));
  return parts.join(' · ');
}
