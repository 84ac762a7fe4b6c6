/**
 * Hardware of the routers that Dynamips emulates: platforms, chassis and modules. The kind of node, upgrades of old projects, and imports of
 * other programs' labs know it. Source: the GNS3 2.2 v2 API.
 */

export type RouterPortType = 'Ethernet' | 'FastEthernet' | 'GigabitEthernet' | 'Serial' | 'ATM' | 'POS';

export interface RouterModule {
  readonly ports: number;
  readonly type: RouterPortType;
}

const of = (ports: number, type: RouterPortType): RouterModule => ({ ports, type });

export const routerModules = {
  'C1700-MB-1FE': of(1, 'FastEthernet'),
  'C1700-MB-WIC1': of(0, 'FastEthernet'),
  'C2600-MB-1E': of(1, 'Ethernet'),
  'C2600-MB-2E': of(2, 'Ethernet'),
  'C2600-MB-1FE': of(1, 'FastEthernet'),
  'C2600-MB-2FE': of(2, 'FastEthernet'),
  'C7200-IO-FE': of(1, 'FastEthernet'),
  'C7200-IO-2FE': of(2, 'FastEthernet'),
  'C7200-IO-GE-E': of(1, 'GigabitEthernet'),
  'GT96100-FE': of(2, 'FastEthernet'),
  'Leopard-2FE': of(2, 'FastEthernet'),
  'NM-1E': of(1, 'Ethernet'),
  'NM-4E': of(4, 'Ethernet'),
  'NM-1FE-TX': of(1, 'FastEthernet'),
  'NM-16ESW': of(16, 'FastEthernet'),
  'NM-4T': of(4, 'Serial'),
  'PA-FE-TX': of(1, 'FastEthernet'),
  'PA-2FE-TX': of(2, 'FastEthernet'),
  'PA-GE': of(1, 'GigabitEthernet'),
  'PA-4E': of(4, 'Ethernet'),
  'PA-8E': of(8, 'Ethernet'),
  'PA-4T+': of(4, 'Serial'),
  'PA-8T': of(8, 'Serial'),
  'PA-A1': of(1, 'ATM'),
  'PA-POS-OC3': of(1, 'POS'),
} as const satisfies Record<string, RouterModule>;
type RouterModuleName = keyof typeof routerModules;

export const wicModules = {
  'WIC-1ENET': of(1, 'Ethernet'),
  'WIC-1T': of(1, 'Serial'),
  'WIC-2T': of(2, 'Serial'),
} as const satisfies Record<string, RouterModule>;

export interface RouterChassis {
  readonly slots: number;
  /** Soldered-in modules by slot. */
  readonly boards: Readonly<Record<number, RouterModuleName>>;
  /** Bays for WICs on the board of slot 0. */
  readonly wics: number;
}

interface RouterHardware {
  /** Memory for which a file of another program names none, MiB. */
  readonly memory: number;
  /** Chassis to what it has. `''`: there is one only. */
  readonly chassis: Readonly<Record<string, RouterChassis>>;
  /** The chassis that counts when none is named. */
  readonly standard: string;
}

const c2600 = (board: RouterModuleName): RouterChassis => ({ slots: 2, boards: { 0: board }, wics: 3 });
const c1700: RouterChassis = { slots: 1, boards: { 0: 'C1700-MB-1FE' }, wics: 2 };
const c1700wide: RouterChassis = { slots: 2, boards: { 0: 'C1700-MB-1FE', 1: 'C1700-MB-WIC1' }, wics: 2 };
const gt96100 = (memory: number, slots: number): RouterHardware => ({
  memory,
  standard: '',
  chassis: { '': { slots, boards: { 0: 'GT96100-FE' }, wics: 3 } },
});

export type RouterPlatformName = 'c1700' | 'c2600' | 'c2691' | 'c3600' | 'c3725' | 'c3745' | 'c7200';
export const routerHardware: Readonly<Record<RouterPlatformName, RouterHardware>> = {
  c1700: {
    memory: 160,
    standard: '1720',
    chassis: { '1720': c1700, '1721': c1700, '1750': c1700, '1751': c1700wide, '1760': c1700wide },
  },
  c2600: {
    memory: 160,
    standard: '2610',
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
  c2691: gt96100(192, 2),
  c3600: {
    memory: 192,
    standard: '3640',
    chassis: {
      '3640': { slots: 4, boards: {}, wics: 0 },
      '3620': { slots: 2, boards: {}, wics: 0 },
      '3660': { slots: 7, boards: { 0: 'Leopard-2FE' }, wics: 0 },
    },
  },
  c3725: gt96100(128, 3),
  c3745: gt96100(256, 5),
  c7200: { memory: 512, standard: '', chassis: { '': { slots: 7, boards: {}, wics: 0 } } },
};

/** Returns the hardware of a platform; undefined for the name of none. */
export function findRouterHardware(platform: string): RouterHardware | undefined {
  return Object.hasOwn(routerHardware, platform) ? routerHardware[platform as RouterPlatformName] : undefined;
}
