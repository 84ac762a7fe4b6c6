/**
 * Answers that a compute of GNS3 2.2 may give: keys and types of its own schemas, in which other keys are not allowed. A stock
 * controller passes parts of these answers on, checked against the same schemas. Facts of the GNS3 2.2 compute API.
 */
import assert from 'node:assert/strict';

/**
 * Key to types, separated by `|`: those of JSON, `integer`, `uuid`, `port`, or a word in single quotes. A `?` behind the key: it may be missing.
 */
export type ClosedShape = Readonly<Record<string, string>>;

const disks = ['hda', 'hdb', 'hdc', 'hdd'];
const all = (keys: readonly string[], types: string): ClosedShape => Object.fromEntries(keys.map((key) => [key, types]));
const node: ClosedShape = { name: 'string', node_id: 'uuid', project_id: 'uuid' };
const started: ClosedShape = { status: "'started'|'stopped'|'suspended'" };
const always: ClosedShape = { status: "'started'|'stopped'" };
const console: ClosedShape = { console: 'port|null' };
const telnet: ClosedShape = { ...console, console_type: "'telnet'|'none'" };
const folder: ClosedShape = { node_directory: 'string' };
const command: ClosedShape = { command_line: 'string' };
const machine: ClosedShape = {
  ...node,
  ...started,
  ...telnet,
  node_directory: 'string|null',
  adapters: 'integer',
  adapter_type: 'string',
  headless: 'boolean',
  linked_clone: 'boolean',
  on_close: "'power_off'|'shutdown_signal'|'save_vm_state'",
  usage: 'string',
  use_any_adapter: 'boolean',
};
const slots = (count: number): ClosedShape =>
  all(
    Array.from({ length: count }, (_, slot) => `slot${slot}?`),
    'string|null',
  );

export const nodeAnswers: Readonly<Record<string, ClosedShape>> = {
  qemu: {
    ...node,
    ...started,
    ...console,
    ...folder,
    ...command,
    console_type: "'telnet'|'vnc'|'spice'|'spice+agent'|'none'",
    ...all(
      [...disks.flatMap((disk) => [`${disk}_disk_image`, `${disk}_disk_interface`])].concat(
        ...['adapter_type', 'bios_image', 'boot_priority', 'cdrom_image', 'initrd', 'kernel_command_line', 'kernel_image'],
        ...['mac_address', 'on_close', 'options', 'platform', 'process_priority', 'qemu_path', 'usage'],
      ),
      'string',
    ),
    ...all(
      [...disks.map((disk) => `${disk}_disk_image`), 'bios_image', 'cdrom_image', 'initrd', 'kernel_image'].map(
        (image) => `${image}_md5sum`,
      ),
      'string|null',
    ),
    ...all(['adapters', 'cpu_throttling', 'cpus', 'ram'], 'integer'),
    ...all(['create_config_disk', 'legacy_networking', 'replicate_network_connection_state', 'tpm', 'uefi'], 'boolean'),
    'save_vm_state?': 'boolean',
  },
  vpcs: { ...node, ...started, ...telnet, ...folder, ...command },
  docker: {
    ...node,
    ...started,
    ...console,
    ...folder,
    console_type: "'telnet'|'vnc'|'http'|'https'|'none'",
    'container_id?': 'string',
    adapters: 'integer|null',
    'aux?': 'integer',
    'usage?': 'string',
    ...all(['console_http_path', 'console_resolution', 'image', 'mac_address'], 'string'),
    ...all(['environment', 'extra_hosts', 'start_command'], 'string|null'),
    console_http_port: 'integer',
    extra_volumes: 'array',
  },
  dynamips: {
    ...node,
    ...started,
    ...telnet,
    ...folder,
    ...slots(7),
    ...all(['wic0?', 'wic1?', 'wic2?', 'image_md5sum?', 'mac_addr?'], 'string|null'),
    ...all(['idlepc', 'image', 'platform', 'system_id', 'usage'], 'string'),
    ...all(['chassis?', 'midplane?', 'npe?'], 'string'),
    ...all(['clock_divisor', 'disk0', 'disk1', 'dynamips_id', 'exec_area', 'idlemax', 'idlesleep', 'nvram', 'ram'], 'integer'),
    'iomem?': 'integer',
    ...all(['auto_delete_disks', 'mmap', 'sparsemem'], 'boolean'),
    ...all(['power_supplies?', 'sensors?'], 'array'),
    aux: 'port|null',
    // Controllers merge this key into the node whatever its kind; a router that lacks its image has it.
    'command_line?': 'string',
  },
  iou: {
    ...node,
    ...started,
    ...telnet,
    ...folder,
    ...command,
    ...all(['application_id', 'ethernet_adapters', 'serial_adapters'], 'integer'),
    ...all(['nvram', 'ram'], 'integer|null'),
    ...all(['l1_keepalives', 'use_default_iou_values'], 'boolean|null'),
    ...all(['path', 'usage'], 'string'),
    md5sum: 'string|null',
  },
  virtualbox: { ...machine, ram: 'integer', vmname: 'string' },
  vmware: { ...machine, vmx_path: 'string' },
  traceng: {
    ...node,
    ...started,
    ...folder,
    ...command,
    console: 'port|null',
    console_type: "'none'",
    default_destination: 'string',
    ip_address: 'string',
  },
  cloud: {
    ...node,
    ...always,
    ...folder,
    interfaces: 'array',
    ports_mapping: 'array',
    remote_console_host: 'string',
    remote_console_http_path: 'string',
    remote_console_port: 'port|null',
    remote_console_type: "'telnet'|'vnc'|'spice'|'http'|'https'|'none'",
  },
  nat: { ...node, ...always, ports_mapping: 'array' },
  ethernet_switch: { ...node, ...always, ...telnet, ports_mapping: 'array' },
  ethernet_hub: { ...node, ...always, ports_mapping: 'array' },
  frame_relay_switch: { ...node, ...always, mappings: 'object' },
  atm_switch: { ...node, ...always, mappings: 'object' },
};

export const answers = {
  version: { version: 'string', local: 'boolean' },
  capabilities: { version: 'string', platform: 'string', node_types: 'array' },
  statistics: {
    ...all(['memory_total', 'memory_free', 'memory_used', 'swap_total', 'swap_free', 'swap_used'], 'integer'),
    ...all(['cpu_usage_percent', 'memory_usage_percent', 'swap_usage_percent', 'disk_usage_percent'], 'integer'),
    load_average_percent: 'array',
  },
  ports: all(['console_port_range', 'console_ports', 'udp_port_range', 'udp_ports'], 'array'),
  interface: {
    ...all(['id', 'name', 'ip_address', 'netmask', 'mac_address'], 'string'),
    type: "'ethernet'|'tap'",
    special: 'boolean',
  },
  project: { name: 'string|null', project_id: 'uuid', variables: 'array|null' },
  udpPort: { udp_port: 'port' },
  file: { path: 'string', md5sum: 'string' },
  nio: { type: "'nio_udp'", lport: 'port', rhost: 'string', rport: 'port', 'filters?': 'object', 'suspend?': 'boolean' },
  capture: { pcap_file_path: 'string' },
  image: { filename: 'string', path: 'string', md5sum: 'string|null', filesize: 'integer|null' },
  binary: { path: 'string', version: 'string' },
  kvm: { kvm: 'array' },
  // `run` is for controllers of ours; GNS3's reads the other three by their names.
  notice: { action: 'string', event: 'object', 'project_id?': 'uuid', 'run?': 'object' },
  ping: { cpu_usage_percent: 'number', memory_usage_percent: 'number' },
  log: { message: 'string' },
} as const satisfies Record<string, ClosedShape>;

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

function isOf(value: unknown, type: string): boolean {
  if (type.startsWith("'")) return value === type.slice(1, -1);
  if (type === 'uuid') return typeof value === 'string' && uuidForm.test(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'port') return Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536;
  return typeOf(value) === type;
}

/** Asserts that the value is an object with the keys of the shape and no others, each of a type of the shape. */
export function assertClosed(value: unknown, shape: ClosedShape, what: string): void {
  assert.equal(typeOf(value), 'object', what);
  const object = value as Record<string, unknown>;
  for (const key of Object.keys(object)) assert.ok(key in shape || `${key}?` in shape, `GNS3 allows no ${key} in ${what}`);
  for (const [entry, types] of Object.entries(shape)) {
    const key = entry.replace('?', '');
    if (key !== entry && !(key in object)) continue;
    assert.ok(key in object, `${what} lacks ${key}`);
    const isAllowed = types.split('|').some((type) => isOf(object[key], type));
    assert.ok(isAllowed, `${key} of ${what} is ${JSON.stringify(object[key])}, expected ${types}`);
  }
}
