/** Facts of the kind "iou": IOS on Linux. Source: the GNS3 2.2 v2 API. */
import { LongText, Name, nullable, oneOf, strict, TcpPort, Text } from '../../schema/common.ts';
import { ComputeNodeId } from '../../schema/node.ts';
import { filled, textOf } from '../../schema/template.ts';
import { Type } from '../../schema/type.ts';
import { configContents } from '../facts/config-files.ts';
import { mostAdapters, namePorts, serialLinkTypes } from '../facts/port-naming.ts';
import { autoStart, empty, flag as filledFlag, symbol, telnetOrNone, usage, whole, word } from '../facts/template-pieces.ts';
import type { ImageFacts, Kind, TemplateFacts } from '../kind.ts';

/** Every adapter has as many ports. */
export const portsPerAdapter = 4;
/** Bays that the NIOs of IOU can name. */
const maxAdapters = 16;
const count = (description: string) => Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: maxAdapters, description })));
const flag = (description: string) => Type.Optional(nullable(Type.Boolean({ description })));
const size = (description: string) => Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description })));

const changeable = {
  application_id: Type.Optional(
    nullable(Type.Integer({ minimum: 1, maximum: 512, description: 'Number on this host; null: one that is free' })),
  ),
  console: Type.Optional(nullable(TcpPort)),
  console_type: Type.Optional(oneOf(telnetOrNone)),
  ethernet_adapters: count('Adapters with four Ethernet ports'),
  l1_keepalives: flag('Layer 1 keepalive messages; not all images can'),
  md5sum: Type.Optional(nullable(Text({ description: 'Ignored: computed from the image' }))),
  nvram: size('KiB'),
  path: Type.Optional(Name({ description: 'The image: a name in the image folders, or a path' })),
  ram: size('MiB'),
  serial_adapters: count('Adapters with four serial ports'),
  usage: Type.Optional(LongText()),
  use_default_iou_values: flag("The image's own sizes of RAM and NVRAM"),
};

export const iouImages: ImageFacts = {
  folder: 'IOU',
  // ELF, little-endian, 32 or 64 bit.
  isImage: (head) => /^7f454c460[12]0101/.test(head.toString('hex')),
  isProgram: true,
};

const template: TemplateFacts = {
  default_name_format: 'IOU{0}',
  symbol: symbol('multilayer_switch'),
  category: 'router',
  properties: {
    ...usage,
    ...autoStart,
    console_type: word(telnetOrNone, 'telnet'),
    ethernet_adapters: whole(2, 'Adapters with four Ethernet ports'),
    l1_keepalives: filledFlag(false),
    nvram: whole(256, 'KiB'),
    path: Name(),
    private_config: empty('A file in the configs folder'),
    ram: whole(1024, 'MiB'),
    serial_adapters: whole(2, 'Adapters with four serial ports'),
    startup_config: filled(textOf('A file in the configs folder'), 'iou_l3_base_startup-config.txt'),
    use_default_iou_values: filledFlag(false),
  },
};

const baseConfig = (lines: readonly string[]) =>
  [
    '!',
    'hostname %h',
    '!',
    ...lines,
    'no ip domain lookup',
    '!',
    'line con 0',
    ' exec-timeout 0 0',
    ' logging synchronous',
    '!',
    'end',
    '',
  ].join('\n');
/** Names that GNS3's templates use. */
const baseFiles = {
  'iou_l3_base_startup-config.txt': baseConfig([]),
  'iou_l2_base_startup-config.txt': baseConfig(['spanning-tree mode rapid-pvst', '!']),
};

export const iouKind: Kind = {
  type: 'iou',
  title: 'IOU',
  template,
  create: Type.Object(
    {
      ...changeable,
      ...configContents,
      name: Name(),
      node_id: ComputeNodeId,
      path: Name({ description: 'The image: a name in the image folders, or a path' }),
    },
    strict,
  ),
  update: Type.Object({ ...changeable, name: Type.Optional(nullable(Name())) }, strict),
  // GNS3's controllers may send other fields, too.
  start: Type.Object({
    iourc_content: Type.Optional(nullable(LongText({ description: 'The licence: content of an iourc file' }))),
    license_check: Type.Optional(nullable(Type.Boolean({ description: 'Start only with a licence for this host' }))),
    generation: Type.Optional(Type.Integer({ minimum: 0, description: 'Not in GNS3: as of nodes of every kind' })),
  }),
  isLicensed: true,
  folder: 'iou',
  lab: { image: 'path', memory: 'ram', startupFile: 'startup-config.cfg', generated: ['application_id', 'md5sum'] },
  can: {
    suspend: false,
    filter: true,
    mirror: true,
    resetConsole: true,
    reload: true,
    duplicate: true,
    startAnswersNode: true,
    addressesByPort: true,
    addressesByBoth: true,
  },
  alwaysRunning: false,
  consoleTypes: telnetOrNone,
  needsVmCompute: true,
  needsNamespaces: true,
  programs: [
    {
      name: 'socat',
      package: 'socat',
      for: 'IOU nodes',
      versionArgs: ['-V'],
      version: /socat version (\S+)/,
      isEmulator: true,
    },
  ],
  images: iouImages,
  imageProperties: ['path'],
  baseFiles,
  defaults: { console_type: 'telnet', port_name_format: 'Ethernet{segment0}/{port0}', port_segment_size: portsPerAdapter },
  ports: (properties, naming) => {
    const ethernet = numberOf(properties.ethernet_adapters);
    const serial = Array.from(
      { length: Math.min(numberOf(properties.serial_adapters), mostAdapters) * portsPerAdapter },
      (_, index) => {
        const adapter = ethernet + Math.floor(index / portsPerAdapter);
        const port = index % portsPerAdapter;
        return {
          adapter_number: adapter,
          port_number: port,
          name: `Serial${adapter}/${port}`,
          short_name: `s${adapter}/${port}`,
          link_type: 'serial' as const,
          data_link_types: serialLinkTypes,
        };
      },
    );
    return [...namePorts({ count: ethernet, portsEach: portsPerAdapter }, naming), ...serial];
  },
};

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 2;
}
