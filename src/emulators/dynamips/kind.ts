/** Facts of the kind "dynamips": a router of Cisco's, emulated by Dynamips. Source: the established v2 API. */
import { LongText, Name, nullable, oneOf, strict, TcpPort, Text } from '../../schema/common.ts';
import { ComputeNodeId } from '../../schema/node.ts';
import { Type } from '../../schema/type.ts';
import { configContents } from '../facts/config-files.ts';
import { telnetOrNone } from '../facts/template-pieces.ts';
import type { ImageFacts, Kind } from '../kind.ts';
import { moduleNames, routerPorts, wicNames } from './modules.ts';
import { macPattern, npes } from './template.ts';

const size = (description: string) => Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description }));
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));
const plugs = (prefix: string, count: number, names: readonly string[]) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, number) => [`${prefix}${number}`, Type.Optional(nullable(oneOf(names)))] as const),
  );

const changeable = {
  ...plugs('slot', 7, moduleNames),
  ...plugs('wic', 3, wicNames),
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

export const dynamipsImages: ImageFacts = {
  folder: 'IOS',
  // ELF of a 32-bit big-endian machine.
  isImage: (head) => head.toString('hex').startsWith('7f454c46010201'),
};

export const dynamipsKind: Kind = {
  type: 'dynamips',
  title: 'Dynamips',
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
  defaults: { console_type: 'telnet', port_name_format: 'Ethernet{0}', port_segment_size: 0 },
  ports: (properties) => routerPorts(properties),
};
