/** Facts of the kind "qemu": a virtual machine. Sources of the constants: README.md beside this file. */
import { LongText, Mac, Name, nullable, oneOf, strict, TcpPort, Text } from '../../schema/common.ts';
import { ComputeNodeId, CustomAdapters } from '../../schema/node.ts';
import { filled, type TypeProperties } from '../../schema/template.ts';
import { type TSchema, Type } from '../../schema/type.ts';
import { namePorts } from '../facts/port-naming.ts';
import { autoStart, customAdapters, empty, macAddress, portNames, symbol, usage, word } from '../facts/template-pieces.ts';
import type { ImageFacts, Kind, ProgramFacts, TemplateFacts } from '../kind.ts';
import { fields, processPriorities } from './fields.ts';
import { checkStoredOptions } from './options-check.ts';
import { platforms } from './platforms.ts';
import { defaults, imageKeys } from './properties.ts';

const consoleTypes = ['telnet', 'vnc', 'spice', 'spice+agent', 'none'] as const;

const optional = (schema: TSchema) => Type.Optional(schema);
const orNull = (schema: TSchema) => Type.Optional(nullable(schema));
/** Clients send a node back as they got it; sums are ours to compute. */
const md5sum = orNull(Text({ description: 'Ignored: computed from the image' }));
const diskInterface = optional(Text({ description: 'ide, sata, nvme, scsi, virtio, sd, usb, floppy, pflash, mtd or none' }));

const changeable = {
  adapter_type: orNull(Name({ description: 'Model of the network adapters, such as e1000 or virtio-net-pci' })),
  adapters: orNull(fields.adapters),
  bios_image: optional(fields.bios_image),
  bios_image_md5sum: md5sum,
  boot_priority: optional(fields.boot_priority),
  cdrom_image: optional(fields.cdrom_image),
  cdrom_image_md5sum: md5sum,
  console: orNull(TcpPort),
  console_type: optional(oneOf(consoleTypes)),
  cpu_throttling: orNull(fields.cpu_throttling),
  cpus: orNull(fields.cpus),
  create_config_disk: orNull(fields.create_config_disk),
  custom_adapters: optional(CustomAdapters),
  hda_disk_image: optional(fields.hda_disk_image),
  hda_disk_image_md5sum: md5sum,
  hda_disk_interface: diskInterface,
  hdb_disk_image: optional(fields.hdb_disk_image),
  hdb_disk_image_md5sum: md5sum,
  hdb_disk_interface: diskInterface,
  hdc_disk_image: optional(fields.hdc_disk_image),
  hdc_disk_image_md5sum: md5sum,
  hdc_disk_interface: diskInterface,
  hdd_disk_image: optional(fields.hdd_disk_image),
  hdd_disk_image_md5sum: md5sum,
  hdd_disk_interface: diskInterface,
  initrd: optional(fields.initrd),
  initrd_md5sum: md5sum,
  kernel_command_line: orNull(fields.kernel_command_line),
  kernel_image: optional(fields.kernel_image),
  kernel_image_md5sum: md5sum,
  kernel_path: optional(
    Type.Boolean({
      description: 'False: its links always go through the fabric. At the next start. Shown when it is false',
    }),
  ),
  legacy_networking: orNull(fields.legacy_networking),
  linked_clone: optional(fields.linked_clone),
  mac_address: orNull(Type.Union([Mac, Type.Literal('')], { description: 'Of adapter 0; adapter n has this plus n' })),
  offload: optional(
    oneOf(['auto', 'full', 'portable'], {
      description:
        'Whether its virtio adapters use offloads of the kernel. With them its memory continues only on computes that have TAP interfaces; ' +
        'portable: on every compute. auto: portable while a compute of the controller has none. At the next start. Shown unless it is auto',
    }),
  ),
  maxcpus: orNull(
    Type.Integer({
      minimum: 1,
      maximum: 255,
      description: 'Not in GNS3 2.2: processors that a running machine may have at most. Shown when it is above 1',
    }),
  ),
  on_close: optional(fields.on_close),
  options: orNull(fields.options),
  platform: orNull(oneOf([...platforms, '', 'null'])),
  process_priority: orNull(oneOf([...processPriorities, 'null'])),
  qemu_path: orNull(Name({ description: 'The emulator: a name in PATH, or its path' })),
  // No bounds here: whatever an old project holds is opened; QEMU says what it cannot do.
  ram: orNull(Type.Integer({ description: 'MiB' })),
  replicate_network_connection_state: orNull(fields.replicate_network_connection_state),
  tpm: orNull(fields.tpm),
  uefi: orNull(fields.uefi),
  usage: optional(LongText()),
};

/** Disks and kernels: anything but a program for this host. */
const isNoElf = (head: Buffer) => head.toString('hex', 0, 4) !== '7f454c46';

export const qemuImages: ImageFacts = { folder: 'QEMU', isImage: isNoElf };

const programs: readonly ProgramFacts[] = [
  // Emulators of all architectures are listed besides, as they are found; this is the one that must be there.
  {
    name: 'qemu-system-x86_64',
    package: 'qemu-system-x86',
    for: 'virtual machines (other architectures have packages of their own: qemu-system-arm, -mips, -ppc, …)',
    versionArgs: ['--version'],
    version: /version (\S+)/,
    isEmulator: true,
  },
  { name: 'qemu-img', package: 'qemu-utils', for: 'disks and linked clones', versionArgs: ['--version'], version: /version (\S+)/ },
  {
    name: 'swtpm',
    package: 'swtpm',
    for: 'TPMs of virtual machines',
    versionArgs: ['--version'],
    version: /version (\d[\d.]*)/,
    optional: true,
  },
  {
    name: 'mcopy',
    package: 'mtools',
    for: 'start-up configurations on config disks',
    versionArgs: ['--version'],
    version: /mtools\) (\S+)/,
    optional: true,
  },
];

const interfaces = ['ide', 'sata', 'nvme', 'scsi', 'sd', 'mtd', 'floppy', 'pflash', 'virtio', 'none'] as const;
const drives = ['hda', 'hdb', 'hdc', 'hdd'].map((drive) => [`${drive}_disk_interface`, word(interfaces, 'none')] as const);
const adapterTypes = [
  'e1000',
  'e1000-82544gc',
  'e1000-82545em',
  'e1000e',
  ...['i82550', 'i82551', 'i82557a', 'i82557b', 'i82557c', 'i82558a', 'i82558b', 'i82559a', 'i82559b', 'i82559c', 'i82559er'],
  ...['i82562', 'i82801', 'igb', 'ne2k_pci', 'pcnet', 'rocker', 'rtl8139', 'virtio', 'virtio-net-pci', 'vmxnet3'],
];

/** Template properties that nodes have as well; the node's default applies unless the template has its own. */
const machine: TypeProperties = Object.fromEntries(
  Object.entries(fields).map(([key, schema]) => [key, filled(schema, defaults[key as keyof typeof fields])]),
);

const template: TemplateFacts = {
  default_name_format: '{name}-{0}',
  symbol: symbol('qemu_guest'),
  ownSymbol: {
    name: 'qemu_guest',
    width: 65,
    height: 59,
    figure: 'screen',
    letters: 'VM',
    theme: { category: 'qemu_guest', affinity: 'client_vm' },
    ofGuests: true,
  },
  category: 'guest',
  properties: {
    ...machine,
    ...usage,
    ...portNames,
    ...macAddress,
    ...autoStart,
    ...customAdapters,
    ...Object.fromEntries(drives),
    maxcpus: Type.Optional(Type.Integer({ minimum: 1, maximum: 255, description: 'As of nodes' })),
    adapter_type: word(adapterTypes, 'e1000'),
    console_type: word(['telnet', 'vnc', 'spice', 'spice+agent', 'none'], 'telnet'),
    platform: word([...platforms, ''], ''),
    process_priority: filled(fields.process_priority, 'normal'),
    qemu_path: empty('The emulator'),
  },
};

export const qemuKind: Kind = {
  type: 'qemu',
  title: 'QEMU VM',
  template,
  create: Type.Object(
    {
      ...changeable,
      name: Name(),
      node_id: ComputeNodeId,
    },
    strict,
  ),
  update: Type.Object({ ...changeable, name: Type.Optional(nullable(Name())) }, strict),
  folder: 'qemu',
  machines: { disks: ['hda_disk_image', 'hdb_disk_image', 'hdc_disk_image', 'hdd_disk_image'] },
  nodeDefaults: { ...defaults },
  lab: {
    configDisk: {
      property: 'create_config_disk',
      folder: 'config',
      // The first three files are cloud-init's (NoCloud), then come those of Cisco and Juniper routers, and those of imported labs.
      files: [
        ...['user-data', 'meta-data', 'network-config'],
        ...['ios_config.txt', 'iosxe_config.txt', 'iosxr_config.txt', 'nxos_config.txt', 'day0-config', 'juniper.conf'],
        ...['node.cfg', 'startup-config.cfg'],
      ],
    },
    image: 'hda_disk_image',
    // GNS3's default, none, attaches no disk. IDE is known to every system that boots without drivers of its own.
    imageDefaults: { hda_disk_interface: 'ide' },
    memory: 'ram',
    cpus: 'cpus',
    fixed: ['linked_clone'],
    generated: imageKeys.map((key) => `${key}_md5sum`),
  },
  // GNS3's controllers may send other fields, too.
  start: Type.Object({
    portable_memory: Type.Optional(
      Type.Boolean({
        description: 'Not in GNS3: with offload auto, its memory is to continue on computes without TAP interfaces, too',
      }),
    ),
    generation: Type.Optional(Type.Integer({ minimum: 0, description: 'Not in GNS3: as of nodes of every kind' })),
  }),
  can: {
    suspend: true,
    filter: true,
    mirror: true,
    resetConsole: true,
    reload: true,
    duplicate: true,
    resizeDisk: true,
    liveMove: true,
    replicateLinkState: true,
    startAnswersNode: true,
    addressesByPort: false,
  },
  alwaysRunning: false,
  needsVmCompute: true,
  consoleTypes,
  programs,
  images: qemuImages,
  defaults: {
    console_type: 'telnet',
    port_name_format: 'Ethernet{0}',
    port_segment_size: 0,
  },
  checkRequest: ({ options }, settings) => {
    if (typeof options === 'string') checkStoredOptions(options, settings);
  },
  ports: (properties, naming) => {
    const count = properties.ethernet_adapters ?? properties.adapters ?? 1;
    return namePorts(
      {
        count: typeof count === 'number' ? count : 1,
        adapter_type: text(properties.adapter_type),
        mac_address: text(properties.mac_address),
      },
      naming,
    );
  },
};

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
