/** The impairments of a link in a few words, as the canvas shows them: `100 ms · 1 %`. */
import { megabits, short } from './figures.ts';

type Filters = Readonly<Record<string, unknown>>;
/** Signs of the two directions, as the link lies on the canvas. */
export interface WayArrows {
  readonly ab: string;
  readonly ba: string;
}

/** The canvas has room for so many; the panel of the link has all. */
const mostParts = 3;

const percent = (value: number) => `${short(value)} %`;
const wordings: readonly (readonly [filter: string, word: (first: number, second: number) => string])[] = [
  ['delay', (ms, jitter) => (jitter > 0 ? `${short(ms)} ± ${short(jitter)} ms` : `${short(ms)} ms`)],
  ['latency', (ms) => `${short(ms)} ms`],
  ['packet_loss', percent],
  ['burst_loss', (begins) => `bursts ${percent(begins)}`],
  ['bandwidth', megabits],
  ['frequency_drop', (every) => (every < 0 ? 'all lost' : `1 of ${every} lost`)],
  ['corrupt', (chance) => `corrupt ${percent(chance)}`],
  ['duplicate', (chance) => `twice ${percent(chance)}`],
  ['reorder', (chance) => `reorder ${percent(chance)}`],
];

/** Empty: nothing that has a short form acts. */
export function impairedText(filters: Filters, arrows: WayArrows): string {
  const parts = wordings.flatMap(([filter, word]) =>
    (['', '_ab', '_ba'] as const).flatMap((way) => {
      const [first, second] = numbersOf(filters[filter + way]);
      if (first === undefined || first === 0) return [];
      const sign = way === '' ? '' : `${arrows[way === '_ab' ? 'ab' : 'ba']} `;
      return [sign + word(first, second ?? 0)];
    }),
  );
  for (const key of ['bpf', 'bpf_ab', 'bpf_ba']) if (isText(filters[key])) parts.push('BPF');
  const more = parts.length - mostParts;
  return more > 0 ? `${parts.slice(0, mostParts).join(' · ')} +${more}` : parts.join(' · ');
}

const numbersOf = (values: unknown): readonly (number | undefined)[] =>
  Array.isArray(values) ? values.map((value) => (typeof value === 'number' ? value : Number(value) || undefined)) : [];

const isText = (values: unknown): boolean => Array.isArray(values) && typeof values[0] === 'string' && values[0] !== '';
