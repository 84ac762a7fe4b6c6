/** Templates of routers: common keys, then those of the platform. Source: the established v2 API. */
import { Name, oneOf, Text } from './common.ts';
import { filled, type TypeProperties, textOf } from './template.ts';
import { type TSchema, Type } from './type.ts';

const integer = (standard: number, description: string) => filled(Type.Integer({ minimum: 0, description }), standard);
const flag = (standard: boolean) => filled(Type.Boolean(), standard);

const modules = [
  ...['C1700-MB-1FE', 'C1700-MB-WIC1', 'C2600-MB-1E', 'C2600-MB-2E', 'C2600-MB-1FE', 'C2600-MB-2FE'],
  ...['C7200-IO-FE', 'C7200-IO-2FE', 'C7200-IO-GE-E', 'GT96100-FE', 'Leopard-2FE'],
  ...['NM-1E', 'NM-4E', 'NM-1FE-TX', 'NM-16ESW', 'NM-4T'],
  ...['PA-FE-TX', 'PA-2FE-TX', 'PA-GE', 'PA-4E', 'PA-8E', 'PA-4T+', 'PA-8T', 'PA-A1', 'PA-POS-OC3'],
  '',
];
const slots = Array.from({ length: 7 }, (_, slot) => [`slot${slot}`, Type.Optional(oneOf(modules))] as const);
const wics = Array.from(
  { length: 3 },
  (_, wic) => [`wic${wic}`, Type.Optional(oneOf(['WIC-1ENET', 'WIC-1T', 'WIC-2T', '']))] as const,
);

interface Platform {
  /** MiB. */
  readonly ram: number;
  /** KiB. */
  readonly nvram: number;
  /** Percent of the RAM. */
  readonly iomem?: number;
  readonly sparsemem: boolean;
  readonly more?: Readonly<Record<string, TSchema>>;
}

const npes = ['npe-100', 'npe-150', 'npe-175', 'npe-200', 'npe-225', 'npe-300', 'npe-400', 'npe-g2'] as const;
const chassis26 = ['2610', '2620', '2610XM', '2620XM', '2650XM', '2621', '2611XM', '2621XM', '2651XM'] as const;
const platforms: Readonly<Record<string, Platform>> = {
  c7200: {
    ram: 512,
    nvram: 512,
    sparsemem: true,
    more: { midplane: filled(oneOf(['std', 'vxr']), 'vxr'), npe: filled(oneOf(npes), 'npe-400') },
  },
  c3745: { ram: 256, nvram: 256, iomem: 5, sparsemem: true },
  c3725: { ram: 128, nvram: 256, iomem: 5, sparsemem: true },
  c3600: { ram: 192, nvram: 128, iomem: 5, sparsemem: true, more: { chassis: oneOf(['3620', '3640', '3660']) } },
  c2691: { ram: 192, nvram: 256, iomem: 5, sparsemem: true },
  c2600: { ram: 160, nvram: 128, iomem: 15, sparsemem: true, more: { chassis: oneOf(chassis26) } },
  c1700: {
    ram: 160,
    nvram: 128,
    iomem: 15,
    sparsemem: false,
    more: { chassis: oneOf(['1720', '1721', '1750', '1751', '1760']) },
  },
};

const properties: TypeProperties = {
  ...Object.fromEntries([...slots, ...wics]),
  auto_delete_disks: flag(false),
  console_auto_start: flag(false),
  console_type: filled(oneOf(['telnet', 'none']), 'telnet'),
  disk0: integer(0, 'MiB'),
  disk1: integer(0, 'MiB'),
  exec_area: integer(64, 'MiB'),
  idlemax: integer(500, 'Idle loops before a pause'),
  idlepc: filled(Type.String({ pattern: '^(0x[0-9a-fA-F]{1,16})?$' }), ''),
  idlesleep: integer(30, 'Milliseconds of a pause'),
  image: Name(),
  mac_addr: filled(Type.String({ pattern: '^([0-9a-fA-F]{4}\\.[0-9a-fA-F]{4}\\.[0-9a-fA-F]{4})?$' }), ''),
  mmap: flag(true),
  platform: oneOf(Object.keys(platforms)),
  private_config: filled(textOf('A file in the configs folder'), ''),
  startup_config: filled(textOf('A file in the configs folder'), 'ios_base_startup-config.txt'),
  system_id: filled(Name(), 'FTX0945W0MY'),
  usage: filled(Text(), ''),
};

const ofPlatform: Readonly<Record<string, TypeProperties>> = Object.fromEntries(
  Object.entries(platforms).map(([name, { ram, nvram, iomem, sparsemem, more }]) => [
    name,
    {
      ...more,
      ram: integer(ram, 'MiB'),
      nvram: integer(nvram, 'KiB'),
      sparsemem: flag(sparsemem),
      ...(iomem !== undefined && { iomem: filled(Type.Integer({ minimum: 0, maximum: 100, description: 'Percent' }), iomem) }),
    },
  ]),
);

export const dynamips = {
  properties,
  more: (settings: Readonly<Record<string, unknown>>): TypeProperties => ofPlatform[String(settings.platform)] ?? {},
};
