/** What each type of template adds to the common keys, with its defaults. Source: the established v2 API. */
import { Mac, Name, nullable, oneOf, strict, TcpPort, Text } from './common.ts';
import type { NodeType } from './node.ts';
import { CustomAdapters } from './node.ts';
import { bootPriorities, closeActions, platforms, processPriorities } from './qemu.ts';
import { type Category, filled, type TypeProperties, textOf } from './template.ts';
import { dynamips } from './template-dynamips.ts';
import { Type } from './type.ts';

export interface TemplateKind {
  readonly default_name_format: string;
  readonly symbol: string;
  readonly category: Category;
  readonly properties: TypeProperties;
  /** Properties that depend on others, such as those of a platform. */
  readonly more?: (settings: Readonly<Record<string, unknown>>) => TypeProperties;
}

const portNumber = Type.Integer({ minimum: 0 });
const flag = (standard: boolean) => filled(Type.Boolean(), standard);
const empty = (description: string) => filled(textOf(description), '');
const whole = (standard: number, unit: string, minimum = 0, maximum = 2 ** 31 - 1) =>
  filled(Type.Integer({ minimum, maximum, description: unit }), standard);
const word = <const T extends readonly string[]>(words: T, standard: T[number]) => filled(oneOf(words), standard);
const usage = { usage: empty('Notes for whoever uses it') };
const autoStart = { console_auto_start: flag(false) };
const customAdapters = { custom_adapters: filled(CustomAdapters, []) };
const macAddress = { mac_address: filled(nullable(Type.Union([Mac, Type.Literal('')])), '') };
const portNames = {
  first_port_name: empty('Name of the first port, outside the numbering'),
  port_name_format: filled(Text(), 'Ethernet{0}'),
  port_segment_size: whole(0, 'Ports in a segment', 0, 10_000),
};
const telnetOrNone = ['telnet', 'none'] as const;

const cloudPort = Type.Union([
  Type.Object({ name: Name(), port_number: portNumber, type: oneOf(['ethernet', 'tap']), interface: Name() }, strict),
  Type.Object(
    { name: Name(), port_number: portNumber, type: oneOf(['udp']), lport: TcpPort, rhost: Name(), rport: TcpPort },
    strict,
  ),
]);
const hubPort = Type.Object({ name: Name(), port_number: portNumber }, strict);
const switchPort = Type.Object(
  {
    name: Name(),
    port_number: portNumber,
    type: oneOf(['access', 'dot1q', 'qinq']),
    vlan: Type.Optional(Type.Integer({ minimum: 1 })),
    ethertype: Type.Optional(oneOf(['', '0x8100', '0x88A8', '0x9100', '0x9200'])),
  },
  strict,
);
const eightPorts = (more: object) =>
  Array.from({ length: 8 }, (_, number) => ({ name: `Ethernet${number}`, port_number: number, ...more }));

const diskInterfaces = ['ide', 'sata', 'nvme', 'scsi', 'sd', 'mtd', 'floppy', 'pflash', 'virtio', 'none'] as const;
const drives = ['hda', 'hdb', 'hdc', 'hdd'].flatMap((drive) => [
  [`${drive}_disk_image`, empty('A disk image')] as const,
  [`${drive}_disk_interface`, word(diskInterfaces, 'none')] as const,
]);
const virtualAdapters = [
  'e1000',
  'e1000-82544gc',
  'e1000-82545em',
  'e1000e',
  ...['i82550', 'i82551', 'i82557a', 'i82557b', 'i82557c', 'i82558a', 'i82558b', 'i82559a', 'i82559b', 'i82559c', 'i82559er'],
  ...['i82562', 'i82801', 'igb', 'ne2k_pci', 'pcnet', 'rocker', 'rtl8139', 'virtio', 'virtio-net-pci', 'vmxnet3'],
];

const machine: TypeProperties = {
  ...usage,
  ...portNames,
  ...macAddress,
  ...autoStart,
  ...customAdapters,
  ...Object.fromEntries(drives),
  adapter_type: filled(oneOf(virtualAdapters), 'e1000'),
  adapters: whole(1, 'Network adapters', 0, 275),
  bios_image: empty('Firmware'),
  boot_priority: word(bootPriorities, 'c'),
  cdrom_image: empty('CD-ROM'),
  console_type: word(['telnet', 'vnc', 'spice', 'spice+agent', 'none'], 'telnet'),
  cpu_throttling: whole(0, 'Percent of one processor; 0: no limit', 0, 800),
  cpus: whole(1, 'Processors', 1, 255),
  create_config_disk: flag(false),
  initrd: empty('Initial RAM disk'),
  kernel_command_line: empty('Arguments of the kernel'),
  kernel_image: empty('Kernel'),
  legacy_networking: flag(false),
  linked_clone: flag(true),
  on_close: word(closeActions, 'power_off'),
  options: empty('Added to the command line'),
  platform: word([...platforms, ''], ''),
  process_priority: word(processPriorities, 'normal'),
  qemu_path: empty('The emulator'),
  ram: whole(256, 'MiB'),
  replicate_network_connection_state: flag(true),
  tpm: flag(false),
  uefi: flag(false),
};

/** Machines of other virtualisers. */
const guest: TypeProperties = {
  ...usage,
  ...portNames,
  ...autoStart,
  ...customAdapters,
  console_type: word(telnetOrNone, 'none'),
  headless: flag(false),
  linked_clone: flag(false),
  on_close: word(closeActions, 'power_off'),
  use_any_adapter: flag(false),
};
const virtualboxAdapters = [
  'PCnet-PCI II (Am79C970A)',
  'PCNet-FAST III (Am79C973)',
  'Intel PRO/1000 MT Desktop (82540EM)',
  'Intel PRO/1000 T Server (82543GC)',
  'Intel PRO/1000 MT Server (82545EM)',
  'Paravirtualized Network (virtio-net)',
] as const;
const vmwareAdapters = ['default', 'e1000', 'e1000e', 'flexible', 'vlance', 'vmxnet', 'vmxnet2', 'vmxnet3'] as const;

const container: TypeProperties = {
  ...usage,
  ...macAddress,
  ...autoStart,
  ...customAdapters,
  adapters: whole(1, 'Network adapters', 0, 99),
  console_http_path: filled(Name(), '/'),
  console_http_port: filled(TcpPort, 80),
  console_resolution: filled(Type.String({ pattern: '^[0-9]{1,5}x[0-9]{1,5}$' }), '1024x768'),
  console_type: word(['telnet', 'vnc', 'http', 'https', 'none'], 'telnet'),
  environment: empty('One KEY=VALUE a line'),
  extra_hosts: empty('One host:address a line'),
  extra_volumes: filled(Type.Array(Text()), []),
  image: Name(),
  start_command: empty('In place of what the image says'),
};

const symbol = (name: string) => `:/symbols/${name}.svg`;

/** The types that a client can make templates of. */
export const templateKinds: Readonly<Partial<Record<NodeType, TemplateKind>>> = {
  cloud: {
    default_name_format: 'Cloud{0}',
    symbol: symbol('cloud'),
    category: 'guest',
    properties: {
      ports_mapping: filled(Type.Array(cloudPort), []),
      remote_console_host: filled(Name(), '127.0.0.1'),
      remote_console_http_path: filled(Name(), '/'),
      remote_console_port: filled(TcpPort, 23),
      remote_console_type: word(['telnet', 'vnc', 'spice', 'http', 'https', 'none'], 'none'),
    },
  },
  ethernet_switch: {
    default_name_format: 'Switch{0}',
    symbol: symbol('ethernet_switch'),
    category: 'switch',
    properties: {
      console_type: word(telnetOrNone, 'none'),
      ports_mapping: filled(Type.Array(switchPort), eightPorts({ ethertype: '', type: 'access', vlan: 1 })),
    },
  },
  ethernet_hub: {
    default_name_format: 'Hub{0}',
    symbol: symbol('hub'),
    category: 'switch',
    properties: { ports_mapping: filled(Type.Array(hubPort), eightPorts({})) },
  },
  docker: { default_name_format: '{name}-{0}', symbol: symbol('docker_guest'), category: 'guest', properties: container },
  dynamips: { default_name_format: 'R{0}', symbol: symbol('router'), category: 'router', ...dynamips },
  vpcs: {
    default_name_format: 'PC{0}',
    symbol: symbol('vpcs_guest'),
    category: 'guest',
    properties: {
      ...autoStart,
      base_script_file: filled(Name({ description: 'In the configs folder' }), 'vpcs_base_config.txt'),
      console_type: word(telnetOrNone, 'telnet'),
    },
  },
  traceng: {
    default_name_format: 'TraceNG{0}',
    symbol: symbol('traceng'),
    category: 'guest',
    properties: {
      console_type: word(['none'], 'none'),
      default_destination: Type.Optional(Name()),
      ip_address: Type.Optional(Name()),
    },
  },
  virtualbox: {
    default_name_format: '{name}-{0}',
    symbol: symbol('vbox_guest'),
    category: 'guest',
    properties: {
      ...guest,
      adapter_type: word(virtualboxAdapters, 'Intel PRO/1000 MT Desktop (82540EM)'),
      adapters: whole(1, 'Network adapters', 0, 36),
      ram: whole(256, 'MiB', 0, 65_535),
      vmname: Name(),
    },
  },
  vmware: {
    default_name_format: '{name}-{0}',
    symbol: symbol('vmware_guest'),
    category: 'guest',
    properties: {
      ...guest,
      adapter_type: word(vmwareAdapters, 'e1000'),
      adapters: whole(1, 'Network adapters', 0, 10),
      vmx_path: Name(),
    },
  },
  iou: {
    default_name_format: 'IOU{0}',
    symbol: symbol('multilayer_switch'),
    category: 'router',
    properties: {
      ...usage,
      ...autoStart,
      console_type: word(telnetOrNone, 'telnet'),
      ethernet_adapters: whole(2, 'Adapters with four Ethernet ports'),
      l1_keepalives: flag(false),
      nvram: whole(256, 'KiB'),
      path: Name(),
      private_config: empty('A file in the configs folder'),
      ram: whole(1024, 'MiB'),
      serial_adapters: whole(2, 'Adapters with four serial ports'),
      startup_config: filled(textOf('A file in the configs folder'), 'iou_l3_base_startup-config.txt'),
      use_default_iou_values: flag(false),
    },
  },
  qemu: { default_name_format: '{name}-{0}', symbol: symbol('qemu_guest'), category: 'guest', properties: machine },
};
