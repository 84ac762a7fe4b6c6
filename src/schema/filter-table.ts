/**
 * Defines the filters of links and their values, in one table: the controller validates with it, the fabric filters by it, and
 * forms are built from it.
 */

import { named, oneOf } from './common.ts';
import { type Static, Type } from './type.ts';

/** Keys of a link's `filters`; filters that act on frames come first, in the order in which they act. */
export const filterTypes = [
  'frequency_drop',
  'packet_loss',
  'burst_loss',
  'bpf',
  'corrupt',
  'duplicate',
  'reorder',
  'bandwidth',
  'delay',
  'latency',
  'jitter',
  'match',
  'seed',
] as const;
export type FilterType = (typeof filterTypes)[number];

export const FilterParameter = Type.Object(
  {
    name: Type.String(),
    type: oneOf(['int', 'text'], { description: 'Type of the form field; GNS3’s clients know these two' }),
    unit: Type.Optional(Type.String()),
    minimum: Type.Optional(Type.Number()),
    maximum: Type.Optional(Type.Number()),
    fractions: Type.Optional(
      Type.Literal(true, { description: 'The value may have decimals, although GNS3’s clients offer whole numbers only' }),
    ),
    choices: Type.Optional(Type.Unsafe<readonly string[]>(Type.Array(Type.String(), { description: 'A text is one of these' }))),
  },
  named('FilterParameter'),
);
export type FilterParameter = Static<typeof FilterParameter>;

export const FilterFacts = Type.Object(
  { type: oneOf(filterTypes), name: Type.String(), description: Type.String(), parameters: Type.Array(FilterParameter) },
  named('FilterFacts'),
);
export type FilterFacts = Static<typeof FilterFacts>;

interface FilterRow extends FilterFacts {
  /** The filter of which this one is another spelling; aliases are not offered to clients. */
  alias?: FilterType;
  /** The filter exists in GNS3. */
  isGns3?: true;
  /** The filter affects the whole link and has no form for one direction. */
  undirected?: true;
}

export const distributions = ['uniform', 'normal', 'pareto'] as const;
export type Distribution = (typeof distributions)[number];

const percent = (name: string): FilterParameter => ({
  name,
  type: 'int',
  unit: '%',
  minimum: 0,
  maximum: 100,
  fractions: true,
});
const milliseconds = (name: string): FilterParameter => ({ name, type: 'int', unit: 'ms', minimum: 0, maximum: 32767 });

/**
 * The filters, GNS3's first, in the order that clients know. A filter is inactive when its text is empty, or, without a text, when
 * its first value is 0.
 */
export const filterTable: readonly FilterRow[] = [
  {
    type: 'frequency_drop',
    isGns3: true,
    name: 'Frequency drop',
    description: 'Loses one frame out of every N, counted over both directions together; -1 loses every frame.',
    parameters: [{ name: 'Frequency', type: 'int', unit: 'th packet', minimum: -1, maximum: 32767 }],
  },
  {
    type: 'packet_loss',
    isGns3: true,
    name: 'Packet loss',
    description: 'Loses each frame with the given chance, in both directions.',
    parameters: [percent('Chance')],
  },
  {
    type: 'delay',
    isGns3: true,
    name: 'Delay',
    description:
      'Holds every frame for the latency, give or take the jitter, in both directions. It never limits how many frames pass.',
    parameters: [
      { ...milliseconds('Latency'), fractions: true },
      { ...milliseconds('Jitter (-/+)'), fractions: true },
    ],
  },
  {
    type: 'latency',
    isGns3: true,
    name: 'Latency',
    description: 'A delay without jitter.',
    parameters: [milliseconds('Latency')],
    alias: 'delay',
  },
  {
    type: 'corrupt',
    isGns3: true,
    name: 'Corrupt',
    description: 'Damages bytes in the middle of each frame with the given chance.',
    parameters: [percent('Chance')],
  },
  {
    type: 'bpf',
    isGns3: true,
    name: 'Berkeley Packet Filter (BPF)',
    description: 'Loses every frame that matches one of the expressions, one expression per line.',
    parameters: [{ name: 'Filters', type: 'text' }],
  },
  {
    type: 'bandwidth',
    name: 'Bandwidth',
    description:
      'Sends at most so many bits of frames a second, each direction for itself. Frames wait in a queue and are lost when it holds ' +
      'as much as the limit; without a limit it holds what is sent in 100 ms, at least 16 KiB.',
    parameters: [
      { name: 'Bandwidth', type: 'int', unit: 'kbit/s', minimum: 0, maximum: 100_000_000, fractions: true },
      { name: 'Queue limit', type: 'int', unit: 'bytes', minimum: 0, maximum: 16_777_216 },
    ],
  },
  {
    type: 'burst_loss',
    name: 'Burst loss (Gilbert-Elliott)',
    description:
      'Loses frames in bursts. Before each frame the link may go from its good state to its bad one, or back, with the first two ' +
      'chances; then the frame is lost with the chance of the state. Left out: the burst ends with 100 % less the first chance, ' +
      'nothing is lost in the good state, everything in the bad one.',
    parameters: [
      percent('Burst begins'),
      percent('Burst ends'),
      percent('Loss in the good state'),
      percent('Loss in the bad state'),
    ],
  },
  {
    type: 'duplicate',
    name: 'Duplicate',
    description: 'Sends each frame twice with the given chance.',
    parameters: [percent('Chance')],
  },
  {
    type: 'reorder',
    name: 'Reorder',
    description:
      'Keeps a frame back with the given chance until so many later frames have overtaken it (without a number: one), or none came ' +
      'for 100 ms.',
    parameters: [percent('Chance'), { name: 'Gap', type: 'int', unit: 'frames', minimum: 0, maximum: 1000 }],
  },
  {
    type: 'jitter',
    name: 'Jitter of the delay',
    description:
      'How the jitter of the delay is distributed: uniform within it, or normal or pareto with it as standard deviation. Frames ' +
      'keep their order unless they may overtake.',
    // GNS3's desktop client sends the numbers of a filter before its texts.
    parameters: [
      { name: 'Frames may overtake', type: 'int', unit: '(0 no, 1 yes)', minimum: 0, maximum: 1 },
      { name: 'Distribution (uniform, normal or pareto)', type: 'text', choices: distributions },
    ],
  },
  {
    type: 'match',
    name: 'Match (BPF)',
    description:
      'Limits all other filters to the frames that match one of the expressions, one expression per line. Other frames pass ' +
      'unimpaired, and overtake those that wait.',
    parameters: [{ name: 'Expressions', type: 'text' }],
  },
  {
    type: 'seed',
    name: 'Seed',
    description:
      'The same seed makes the same choices for the same frames, from the moment at which it is set or the link comes up. 0: another ' +
      'seed every time.',
    parameters: [{ name: 'Seed', type: 'int', unit: '', minimum: 0, maximum: 2_147_483_647 }],
    undirected: true,
  },
];
