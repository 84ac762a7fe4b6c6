/** Facts of the kind "qemu": a virtual machine. Sources of the constants: README.md beside this file. */

import { Mac, Name, nullable, oneOf, strict, TcpPort, Text, Uuid } from '../../schema/common.ts';
import { CustomAdapters } from '../../schema/node.ts';
import { bootPriorities, closeActions, platforms, processPriorities } from '../../schema/qemu.ts';
import { Type } from '../../schema/type.ts';
import type { Kind } from '../kind.ts';
import { namePorts } from '../port-naming.ts';

const consoleTypes = ['telnet', 'vnc', 'spice', 'spice+agent', 'none'] as const;

export { bootPriorities, closeActions, processPriorities };

const image = (what: string) => Type.Optional(Text({ description: `${what}: a name in the image folders, or a path` }));
/** Clients send a node back as they got it; sums are ours to compute. */
const md5sum = Type.Optional(nullable(Text({ description: 'Ignored: computed from the image' })));
const diskInterface = Type.Optional(Text({ description: 'ide, sata, nvme, scsi, virtio, sd, usb, floppy, pflash, mtd or none' }));
const flag = (description: string) => Type.Optional(nullable(Type.Boolean({ description })));

const changeable = {
  adapter_type: Type.Optional(nullable(Name({ description: 'Model of the network adapters, such as e1000 or virtio-net-pci' }))),
  adapters: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 275 }))),
  bios_image: image('Firmware'),
  bios_image_md5sum: md5sum,
  boot_priority: Type.Optional(oneOf(bootPriorities, { description: 'c: disk, d: CD-ROM, n: network' })),
  cdrom_image: image('CD-ROM; a running machine gets the new one at once'),
  cdrom_image_md5sum: md5sum,
  console: Type.Optional(nullable(TcpPort)),
  console_type: Type.Optional(oneOf(consoleTypes)),
  cpu_throttling: Type.Optional(
    nullable(Type.Integer({ minimum: 0, maximum: 800, description: 'Percent of one processor; 0: no limit' })),
  ),
  cpus: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 255 }))),
  create_config_disk: flag('Attach config.img of the image folder as fourth disk, where there is one'),
  custom_adapters: Type.Optional(CustomAdapters),
  hda_disk_image: image('First disk'),
  hda_disk_image_md5sum: md5sum,
  hda_disk_interface: diskInterface,
  hdb_disk_image: image('Second disk'),
  hdb_disk_image_md5sum: md5sum,
  hdb_disk_interface: diskInterface,
  hdc_disk_image: image('Third disk'),
  hdc_disk_image_md5sum: md5sum,
  hdc_disk_interface: diskInterface,
  hdd_disk_image: image('Fourth disk'),
  hdd_disk_image_md5sum: md5sum,
  hdd_disk_interface: diskInterface,
  initrd: image('Initial RAM disk'),
  initrd_md5sum: md5sum,
  kernel_command_line: Type.Optional(nullable(Text())),
  kernel_image: image('Kernel, started without a boot loader'),
  kernel_image_md5sum: md5sum,
  legacy_networking: flag('The -net syntax of QEMU before 2.9'),
  linked_clone: Type.Optional(
    Type.Boolean({ description: 'The node writes to overlays of its own; otherwise to the images themselves' }),
  ),
  mac_address: Type.Optional(
    nullable(Type.Union([Mac, Type.Literal('')], { description: 'Of adapter 0; adapter n has this plus n' })),
  ),
  on_close: Type.Optional(oneOf(closeActions)),
  options: Type.Optional(nullable(Text({ description: 'Added to the command line, quoted as in a shell' }))),
  platform: Type.Optional(nullable(oneOf([...platforms, '', 'null']))),
  process_priority: Type.Optional(nullable(oneOf([...processPriorities, 'null']))),
  qemu_path: Type.Optional(nullable(Name({ description: 'The emulator: a name in PATH, or its path' }))),
  ram: Type.Optional(nullable(Type.Integer({ description: 'MiB' }))),
  replicate_network_connection_state: flag('Show the guest which adapters are connected'),
  tpm: flag('A TPM 2.0; needs swtpm'),
  uefi: flag('UEFI firmware; needs OVMF'),
  usage: Type.Optional(Text()),
};

export const qemuKind: Kind = {
  type: 'qemu',
  title: 'QEMU VM',
  create: Type.Object(
    {
      ...changeable,
      name: Name(),
      node_id: Type.Optional(Type.Union([Uuid, Type.Integer({ description: 'Of an old project: a new id is made' })])),
    },
    strict,
  ),
  update: Type.Object({ ...changeable, name: Type.Optional(nullable(Name())) }, strict),
  folder: 'qemu',
  can: {
    suspend: true,
    filter: true,
    resetConsole: true,
    reload: true,
    duplicate: true,
    startAnswersNode: true,
    addressesByPort: false,
  },
  alwaysRunning: false,
  consoleTypes,
  defaults: {
    console_type: 'telnet',
    symbol: ':/symbols/qemu_guest.svg',
    category: 'guest',
    name_format: '{name}-{0}',
    port_name_format: 'Ethernet{0}',
    port_segment_size: 0,
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
