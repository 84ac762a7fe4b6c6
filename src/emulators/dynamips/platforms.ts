/** Hardware of each router platform, and its defaults. Source: the GNS3 2.2 v2 API. */
import type { ModuleName } from './modules.ts';

export type PlatformName = 'c1700' | 'c2600' | 'c2691' | 'c3600' | 'c3725' | 'c3745' | 'c7200';

export interface RouterPlatform {
  /** KiB. */
  readonly nvram: number;
  /** MiB of the first PCMCIA disk. */
  readonly disk0: number;
  /** Percent of the RAM that interfaces get; undefined where it cannot be set. */
  readonly iomem?: number;
  readonly sparsemem: boolean;
  readonly clock_divisor: number;
  /** Chassis to what it has. `''`: there is one only. */
  readonly chassis: Readonly<Record<string, Chassis>>;
  /** Power supplies, sensors, engines: of c7200 only. */
  readonly engines?: true;
}

export interface Chassis {
  readonly slots: number;
  /** Soldered-in modules by slot. */
  readonly boards: Readonly<Record<number, ModuleName>>;
  /** Bays for WICs on the board of slot 0. */
  readonly wics: number;
}

const c2600 = (board: ModuleName): Chassis => ({ slots: 2, boards: { 0: board }, wics: 3 });
const c1700: Chassis = { slots: 1, boards: { 0: 'C1700-MB-1FE' }, wics: 2 };
const c1700wide: Chassis = { slots: 2, boards: { 0: 'C1700-MB-1FE', 1: 'C1700-MB-WIC1' }, wics: 2 };
const gt96100 = (slots: number): Readonly<Record<string, Chassis>> => ({ '': { slots, boards: { 0: 'GT96100-FE' }, wics: 3 } });

export const platforms: Readonly<Record<PlatformName, RouterPlatform>> = {
  c1700: {
    nvram: 32,
    disk0: 0,
    iomem: 15,
    sparsemem: false,
    clock_divisor: 8,
    chassis: { '1720': c1700, '1721': c1700, '1750': c1700, '1751': c1700wide, '1760': c1700wide },
  },
  c2600: {
    nvram: 128,
    disk0: 0,
    iomem: 15,
    sparsemem: false,
    clock_divisor: 8,
    chassis: {
      '2610': c2600('C2600-MB-1E'),
      '2611': c2600('C2600-MB-2E'),
      '2620': c2600('C2600-MB-1FE'),
      '2621': c2600('C2600-MB-2FE'),
      '2610XM': c2600('C2600-MB-1FE'),
      '2611XM': c2600('C2600-MB-2FE'),
      '2620XM': c2600('C2600-MB-1FE'),
      '2621XM': c2600('C2600-MB-2FE'),
      '2650XM': c2600('C2600-MB-1FE'),
      '2651XM': c2600('C2600-MB-2FE'),
    },
  },
  c2691: { nvram: 112, disk0: 16, iomem: 5, sparsemem: true, clock_divisor: 8, chassis: gt96100(2) },
  c3600: {
    nvram: 128,
    disk0: 0,
    iomem: 5,
    sparsemem: true,
    clock_divisor: 4,
    chassis: {
      '3640': { slots: 4, boards: {}, wics: 0 },
      '3620': { slots: 2, boards: {}, wics: 0 },
      '3660': { slots: 7, boards: { 0: 'Leopard-2FE' }, wics: 0 },
    },
  },
  c3725: { nvram: 112, disk0: 16, iomem: 5, sparsemem: true, clock_divisor: 8, chassis: gt96100(3) },
  c3745: { nvram: 304, disk0: 16, iomem: 5, sparsemem: true, clock_divisor: 8, chassis: gt96100(5) },
  c7200: {
    nvram: 128,
    disk0: 64,
    sparsemem: true,
    clock_divisor: 4,
    chassis: { '': { slots: 7, boards: {}, wics: 0 } },
    engines: true,
  },
};

/** The chassis that counts when none is named. */
export const standardChassis: Readonly<Partial<Record<PlatformName, string>>> = { c1700: '1720', c2600: '2610', c3600: '3640' };
