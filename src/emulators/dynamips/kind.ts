/** Facts of the kind "dynamips": a router of Cisco's, emulated by Dynamips. Source: the GNS3 2.2 v2 API. */
import { LongText, Name, nullable, oneOf, strict, TcpPort, Text } from '../../schema/common.ts';
import { ComputeNodeId } from '../../schema/node.ts';
import { type RouterPlatformName, routerHardware } from '../../schema/router-hardware.ts';
import { filled, type TypeProperties, textOf } from '../../schema/template.ts';
import { type TSchema, Type } from '../../schema/type.ts';
import { configContents } from '../facts/config-files.ts';
import { symbol, telnetOrNone } from '../facts/template-pieces.ts';
import type { ImageFacts, Kind, TemplateFacts } from '../kind.ts';
import { moduleNames, routerPorts, wicNames } from './modules.ts';

const macPattern = '^([0-9a-fA-F]{4}\\.[0-9a-fA-F]{4}\\.[0-9a-fA-F]{4})?$';
const npes = ['npe-100', 'npe-150', 'npe-175', 'npe-200', 'npe-225', 'npe-300', 'npe-400', 'npe-g2'] as const;

const size = (description: string) => Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description }));
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));
const plugs = (prefix: string, count: number, names: readonly string[]) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, number) => [`${prefix}${number}`, Type.Optional(nullable(oneOf(names)))] as const),
  );
const modules = { ...plugs('slot', 7, moduleNames), ...plugs('wic', 3, wicNames) };

const changeable = {
  ...modules,
  auto_delete_disks: flag('Disks go when the router stops'),
  aux: Type.Optional(nullable(TcpPort)),
  chassis: Type.Optional(Type.String({ pattern: '^[0-9]{4}(XM)?$' })),
  clock_divisor: size('Divisor of the clock'),
  console: Type.Optional(nullable(TcpPort)),
  console_type: Type.Optional(oneOf(telnetOrNone)),
  disk0: size('MiB'),
  disk1: size('MiB'),
  dynamips_id: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 4096, description: 'Number in the project' }))),
  exec_area: size('MiB'),
  idlemax: size('Idle loops before a pause'),
  idlepc: Type.Optional(nullable(Type.String({ pattern: '^(0x[0-9a-fA-F]{1,16})?$' }))),
  idlesleep: size('Milliseconds of a pause'),
  image: Type.Optional(Name({ description: 'The image: a name in the image folders, or a path' })),
  image_md5sum: Type.Optional(nullable(Text({ description: 'Ignored: computed from the image' }))),
  iomem: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, description: 'Percent of the RAM' })),
  mac_addr: Type.Optional(nullable(Type.String({ pattern: macPattern }))),
  midplane: Type.Optional(oneOf(['std', 'vxr'])),
  mmap: flag('RAM in a file that is mapped'),
  npe: Type.Optional(oneOf(npes)),
  nvram: size('KiB'),
  platform: Type.Optional(Type.String({ pattern: '^c[0-9]{4}$' })),
  power_supplies: Type.Optional(Type.Array(Type.Integer(), { maxItems: 2 })),
  ram: size('MiB'),
  sensors: Type.Optional(Type.Array(Type.Integer(), { maxItems: 4 })),
  sparsemem: flag('RAM is taken as it is used'),
  system_id: Type.Optional(Text()),
  usage: Type.Optional(LongText()),
};

export const howToGet =
  'Debian has no package of it: build it from https://github.com/GNS3/dynamips (cmake, libelf-dev, libpcap-dev), or use the packages of GNS3 for Ubuntu';

export const dynamipsImages: ImageFacts = {
  folder: 'IOS',
  // ELF of a 32-bit big-endian machine.
  isImage: (head) => head.toString('hex').startsWith('7f454c46010201'),
};

const integer = (standard: number, description: string) => filled(Type.Integer({ minimum: 0, description }), standard);
const filledFlag = (standard: boolean) => filled(Type.Boolean(), standard);

const slots = Array.from({ length: 7 }, (_, slot) => [`slot${slot}`, Type.Optional(oneOf(moduleNames))] as const);
const wics = Array.from({ length: 3 }, (_, wic) => [`wic${wic}`, Type.Optional(oneOf(wicNames))] as const);

/** Defaults of a platform's templates, which are more generous than those of its nodes. */
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

const chassisOf = (name: RouterPlatformName) => ({ chassis: oneOf(Object.keys(routerHardware[name].chassis)) });
const platforms: Readonly<Record<RouterPlatformName, PlatformSettings>> = {
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
  auto_delete_disks: filledFlag(false),
  console_auto_start: filledFlag(false),
  console_type: filled(oneOf(['telnet', 'none']), 'telnet'),
  disk0: integer(0, 'MiB'),
  disk1: integer(0, 'MiB'),
  exec_area: integer(64, 'MiB'),
  idlemax: integer(500, 'Idle loops before a pause'),
  idlepc: filled(Type.String({ pattern: '^(0x[0-9a-fA-F]{1,16})?$' }), ''),
  idlesleep: integer(30, 'Milliseconds of a pause'),
  image: Name(),
  mac_addr: filled(Type.String({ pattern: macPattern }), ''),
  mmap: filledFlag(true),
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
      sparsemem: filledFlag(sparsemem),
      ...(iomem !== undefined && { iomem: filled(Type.Integer({ minimum: 0, maximum: 100, description: 'Percent' }), iomem) }),
    },
  ]),
);

const template: TemplateFacts = {
  default_name_format: 'R{0}',
  symbol: symbol('router'),
  category: 'router',
  properties,
  more: (settings) => ofPlatform[String(settings.platform)] ?? {},
};

export const dynamipsKind: Kind = {
  type: 'dynamips',
  title: 'Dynamips',
  emptiable: Object.keys(modules),
  template,
  create: Type.Object(
    {
      ...changeable,
      ...configContents,
      image: Name({ description: 'The image: a name in the image folders, or a path' }),
      name: Name(),
      node_id: ComputeNodeId,
      platform: Type.String({ pattern: '^c[0-9]{4}$' }),
      ram: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description: 'MiB' }),
    },
    strict,
  ),
  update: Type.Object({ ...changeable, name: Type.Optional(nullable(Name())) }, strict),
  folder: 'dynamips',
  lab: {
    image: 'image',
    memory: 'ram',
    startupFile: 'configs/startup-config.cfg',
    fixed: ['platform'],
    generated: ['aux', 'dynamips_id', 'image_md5sum'],
  },
  can: {
    suspend: true,
    filter: true,
    resetConsole: true,
    reload: true,
    duplicate: true,
    startAnswersNode: false,
    addressesByPort: true,
    addressesByBoth: true,
  },
  alwaysRunning: false,
  consoleTypes: telnetOrNone,
  images: dynamipsImages,
  needsNamespaces: true,
  programs: [
    {
      name: 'dynamips',
      source: howToGet,
      for: 'Dynamips nodes',
      versionArgs: ['--help'],
      version: /version ([\d.]+)/,
      isEmulator: true,
      optional: true,
    },
    {
      name: 'socat',
      package: 'socat',
      for: 'Dynamips nodes',
      versionArgs: ['-V'],
      version: /socat version (\S+)/,
      isEmulator: true,
    },
    {
      name: 'ip',
      package: 'iproute2',
      for: 'those of Dynamips nodes',
      versionArgs: ['-V'],
      version: /iproute2-([^\s,]+)/,
      isEmulator: true,
    },
  ],
  defaults: { console_type: 'telnet', port_name_format: 'Ethernet{0}', port_segment_size: 0 },
  ports: (properties) => routerPorts(properties),
};
