/** Templates of routers: common keys, then those of the platform. Source: the established v2 API. */
import { LongText, Name, oneOf } from '../../schema/common.ts';
import { filled, type TypeProperties, textOf } from '../../schema/template.ts';
import { type TSchema, Type } from '../../schema/type.ts';
import { symbol } from '../facts/template-pieces.ts';
import type { TemplateFacts } from '../kind.ts';
import { moduleNames, wicNames } from './modules.ts';
import { platforms as hardware, type PlatformName } from './platforms.ts';

export const macPattern = '^([0-9a-fA-F]{4}\\.[0-9a-fA-F]{4}\\.[0-9a-fA-F]{4})?$';

const integer = (standard: number, description: string) => filled(Type.Integer({ minimum: 0, description }), standard);
const flag = (standard: boolean) => filled(Type.Boolean(), standard);

const slots = Array.from({ length: 7 }, (_, slot) => [`slot${slot}`, Type.Optional(oneOf(moduleNames))] as const);
const wics = Array.from({ length: 3 }, (_, wic) => [`wic${wic}`, Type.Optional(oneOf(wicNames))] as const);

/** What templates of a platform begin with, which is more generous than what its nodes do. */
interface PlatformSettings {
  /** MiB. */
  readonly ram: number;
  /** KiB. */
  readonly nvram: number;
  /** Percent of the RAM. */
  readonly iomem?: number;
  readonly sparsemem: boolean;
  readonly more?: Readonly<Record<string, TSchema>>;
}

export const npes = ['npe-100', 'npe-150', 'npe-175', 'npe-200', 'npe-225', 'npe-300', 'npe-400', 'npe-g2'] as const;
const chassisOf = (name: PlatformName) => ({ chassis: oneOf(Object.keys(hardware[name].chassis)) });
const platforms: Readonly<Record<PlatformName, PlatformSettings>> = {
  c7200: {
    ram: 512,
    nvram: 512,
    sparsemem: true,
    more: { midplane: filled(oneOf(['std', 'vxr']), 'vxr'), npe: filled(oneOf(npes), 'npe-400') },
  },
  c3745: { ram: 256, nvram: 256, iomem: 5, sparsemem: true },
  c3725: { ram: 128, nvram: 256, iomem: 5, sparsemem: true },
  c3600: { ram: 192, nvram: 128, iomem: 5, sparsemem: true, more: chassisOf('c3600') },
  c2691: { ram: 192, nvram: 256, iomem: 5, sparsemem: true },
  c2600: { ram: 160, nvram: 128, iomem: 15, sparsemem: true, more: chassisOf('c2600') },
  c1700: {
    ram: 160,
    nvram: 128,
    iomem: 15,
    sparsemem: false,
    more: chassisOf('c1700'),
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
  mac_addr: filled(Type.String({ pattern: macPattern }), ''),
  mmap: flag(true),
  platform: oneOf(Object.keys(platforms)),
  private_config: filled(textOf('A file in the configs folder'), ''),
  startup_config: filled(textOf('A file in the configs folder'), 'ios_base_startup-config.txt'),
  system_id: filled(Name(), 'FTX0945W0MY'),
  usage: filled(LongText(), ''),
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

export const dynamipsTemplate: TemplateFacts = {
  default_name_format: 'R{0}',
  symbol: symbol('router'),
  category: 'router',
  properties,
  more: (settings) => ofPlatform[String(settings.platform)] ?? {},
};
