/** Texts of the overlays: loaded with them. */
import { short } from '../../texts/figures.ts';

const units: readonly (readonly [from: number, unit: string])[] = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];
/** A rate in bit/s in a few characters: `1.2M`. */
const brief = (bits: number): string => {
  const [from, unit] = units.find(([least]) => bits >= least) ?? [1, ''];
  return `${Number((bits / from).toPrecision(2))}${unit}`;
};

export const overlayTexts = {
  titles: {
    impairment: 'Impairments',
    rate: 'Rates',
    loss: 'Lost frames',
    segments: 'Subnets and VLANs',
    state: 'State',
  },
  legend: 'Legend of the overlay',
  overlay: 'Overlay',
  notes: {
    impairment: '',
    rate: 'Bits a second, each way.',
    loss: 'Of all frames since the overlay was opened.',
    segments: 'Subnets are known of PCs (VPCS) that run.',
    state: '',
  },
  close: 'Close the overlay',
  impairment: {
    delay: 'Delay',
    loss: 'Loss',
    bandwidth: 'Limited rate',
    others: 'Damage, order, filters',
    several: 'Several',
    none: 'None',
  },
  both: (there: string, back: string) => [there, back].filter(Boolean).join(' '),
  way: (arrow: string, figure: string) => (figure === '' ? '' : `${arrow} ${figure}`),
  rate: (bits: number) => (bits === 0 ? '' : brief(bits)),
  rates: ['No traffic', 'Below 10k', 'Below 1M', 'Below 100M', '100M and more'],
  loss: (part: number) => `${short(Number((part * 100).toPrecision(2)))} %`,
  losses: { none: 'None', few: 'Up to 1 %', some: 'Up to 10 %', many: 'More', all: 'All' },
  lost: 'lost',
  segments: {
    trunk: 'Trunk of several VLANs',
    vlans: (vlans: readonly number[]) => `VLAN ${vlans.join(', ')}`,
    segment: (letter: string) => `Segment ${letter}`,
    trunkOf: (vlans: readonly number[]) => (vlans.length > 0 ? `trunk ${vlans.join(', ')}` : 'trunk'),
    more: (count: number) => `and ${count} more`,
  },
  state: {
    started: 'runs',
    stopped: 'stopped',
    suspended: 'suspended',
    problem: 'problem',
    cut: 'suspended',
    link: (what: string) => `Link: ${what}`,
    capturing: 'capture',
    kernel: 'carried by the kernel',
  },
} as const;
