/** The tables of the contract, as checks: key to what its value may be. */
import assert from 'node:assert/strict';
import { bootPriorities, closeActions, platforms, processPriorities } from './qemu-words.ts';

type Check = 'string' | 'integer' | 'boolean' | 'object' | 'array' | 'null' | 'uuid' | readonly string[];
/** Any of these. */
export type Shape = Readonly<Record<string, readonly Check[]>>;

const text = ['string'] as const;
const textOrNull = ['string', 'null'] as const;
const integer = ['integer'] as const;
const integerOrNull = ['integer', 'null'] as const;
const flag = ['boolean'] as const;
const uuid = ['uuid'] as const;

export const linkShape: Shape = {
  capture_compute_id: textOrNull,
  capture_file_name: textOrNull,
  capture_file_path: textOrNull,
  capturing: flag,
  filters: ['object'],
  link_id: uuid,
  link_type: [['ethernet', 'serial']],
  nodes: ['array'],
  project_id: uuid,
  suspend: flag,
};

export const linkEndShape: Shape = { adapter_number: integer, node_id: uuid, port_number: integer, label: ['object'] };

export const projectShape: Shape = {
  auto_close: flag,
  auto_open: flag,
  auto_start: flag,
  drawing_grid_size: integer,
  filename: textOrNull,
  grid_size: integer,
  name: textOrNull,
  path: textOrNull,
  project_id: uuid,
  scene_height: integer,
  scene_width: integer,
  show_grid: flag,
  show_interface_labels: flag,
  show_layers: flag,
  snap_to_grid: flag,
  status: [['opened', 'closed']],
  supplier: ['object', 'null'],
  variables: ['array', 'null'],
  zoom: integer,
};

const disks = ['hda', 'hdb', 'hdc', 'hdd'];
const each = (names: string[], checks: readonly Check[]): Shape => Object.fromEntries(names.map((name) => [name, checks]));

/** Every key of the node object of the compute API that is always present. */
export const qemuNodeShape: Shape = {
  adapter_type: text,
  adapters: integer,
  bios_image: text,
  bios_image_md5sum: textOrNull,
  boot_priority: [bootPriorities],
  cdrom_image: text,
  cdrom_image_md5sum: textOrNull,
  command_line: text,
  console: integerOrNull,
  console_type: [['telnet', 'vnc', 'spice', 'spice+agent', 'none']],
  cpu_throttling: integer,
  cpus: integerOrNull,
  ...each(
    disks.map((disk) => `${disk}_disk_image`),
    text,
  ),
  ...each(
    disks.map((disk) => `${disk}_disk_image_md5sum`),
    textOrNull,
  ),
  ...each(
    disks.map((disk) => `${disk}_disk_interface`),
    text,
  ),
  initrd: text,
  initrd_md5sum: textOrNull,
  kernel_command_line: text,
  kernel_image: text,
  kernel_image_md5sum: textOrNull,
  legacy_networking: flag,
  mac_address: text,
  name: text,
  node_id: uuid,
  node_directory: text,
  on_close: [closeActions],
  options: text,
  platform: [platforms, 'null'],
  process_priority: [processPriorities],
  project_id: uuid,
  qemu_path: text,
  ram: integerOrNull,
  status: [['started', 'stopped', 'suspended']],
  usage: text,
};

export const binaryShape: Shape = { path: text, version: text };

export const computeShape: Shape = {
  capabilities: ['object'],
  compute_id: text,
  connected: flag,
  host: text,
  last_error: textOrNull,
  name: text,
  port: integer,
  protocol: [['http', 'https']],
  user: textOrNull,
};

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function passes(value: unknown, check: Check): boolean {
  if (typeof check === 'object') return typeof value === 'string' && check.includes(value);
  switch (check) {
    case 'string':
    case 'boolean':
      return typeof value === check;
    case 'integer':
      return Number.isInteger(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    case 'uuid':
      return typeof value === 'string' && uuidForm.test(value);
  }
}

/** Asserts that every key of the shape exists with a value of its kind. Further keys are allowed. */
export function assertShape(value: unknown, shape: Shape, what = 'object'): void {
  assert.ok(passes(value, 'object'), `${what} is not an object: ${JSON.stringify(value)}`);
  const object = value as Record<string, unknown>;
  for (const [key, checks] of Object.entries(shape)) {
    assert.ok(key in object, `${what} lacks ${key}`);
    const shown = JSON.stringify(object[key]);
    assert.ok(
      checks.some((check) => passes(object[key], check)),
      `${what}.${key} is ${shown}, expected ${checks.join(' | ')}`,
    );
  }
}
