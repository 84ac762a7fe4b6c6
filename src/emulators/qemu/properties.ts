/**
 * A machine's properties, complete: what the API's node object shows, and what only requests carry (`linked_clone`,
 * `custom_adapters`). A nullable input that is null means the default when the node is made, and no change later.
 */
import type { CustomAdapters } from '../../schema/node.ts';
import type { Static } from '../../schema/type.ts';
import type { Properties } from '../driver.ts';
import { macOfNode } from '../facts/mac-address.ts';
import type { fields } from './fields.ts';
import type { Platform } from './platforms.ts';

export const slots = ['hda', 'hdb', 'hdc', 'hdd'] as const;
export type Slot = (typeof slots)[number];
export const imageKeys = [
  'hda_disk_image',
  'hdb_disk_image',
  'hdc_disk_image',
  'hdd_disk_image',
  'cdrom_image',
  'bios_image',
  'initrd',
  'kernel_image',
] as const;

/** Properties that nodes and templates share, typed by their schemas. */
type Shared = { -readonly [Key in keyof typeof fields]: Static<(typeof fields)[Key]> };
type Interfaces = Record<`${Slot}_disk_interface`, string>;

export interface QemuProperties extends Shared, Interfaces {
  adapter_type: string;
  custom_adapters: CustomAdapters;
  /** False: the fabric carries its links also where the kernel could. */
  kernel_path?: boolean;
  mac_address: string;
  /** Absent: as many as `cpus`. */
  maxcpus?: number;
  offload?: 'auto' | 'full' | 'portable';
  platform: Platform;
  /** Absolute. */
  qemu_path: string;
  usage: string;
}

/** Everything but the emulator itself, which depends on what is installed. Values: GNS3's defaults (README.md). */
export const defaults: Readonly<Omit<QemuProperties, 'qemu_path' | 'platform' | 'mac_address'>> = Object.freeze({
  adapter_type: 'e1000',
  adapters: 1,
  bios_image: '',
  boot_priority: 'c',
  cdrom_image: '',
  cpu_throttling: 0,
  cpus: 1,
  create_config_disk: false,
  custom_adapters: [],
  hda_disk_image: '',
  hda_disk_interface: 'none',
  hdb_disk_image: '',
  hdb_disk_interface: 'none',
  hdc_disk_image: '',
  hdc_disk_interface: 'none',
  hdd_disk_image: '',
  hdd_disk_interface: 'none',
  initrd: '',
  kernel_command_line: '',
  kernel_image: '',
  legacy_networking: false,
  linked_clone: true,
  on_close: 'power_off',
  options: '',
  process_priority: 'low',
  ram: 256,
  replicate_network_connection_state: true,
  tpm: false,
  uefi: false,
  usage: '',
});

/** Defaults of properties that GNS3's nodes do not have; a node shows them where they differ from the default. */
const ownDefaults = { kernel_path: true, maxcpus: 1, offload: 'auto' };
const changeableKeys = [...Object.keys(defaults), ...Object.keys(ownDefaults), 'mac_address'];

/** The properties after a request: nulls, unknown and foreign keys (name, console, sums) change nothing. */
export function merge<T extends object>(current: T, input: Properties, nodeId: string): T & { mac_address: string } {
  const merged: Record<string, unknown> = Object.fromEntries(Object.entries(current));
  for (const key of changeableKeys) {
    const value = input[key];
    if (value === undefined || value === null || value === 'null') continue;
    merged[key] = typeof value === 'string' && key === 'options' ? rewriteOptions(value) : value;
  }
  for (const [key, value] of Object.entries(ownDefaults)) if (merged[key] === value) delete merged[key];
  if (input.mac_address === null || !merged.mac_address) merged.mac_address = macOfNode(nodeId);
  merged.mac_address = String(merged.mac_address).toLowerCase();
  return merged as T & { mac_address: string };
}

/** Properties that the compute kept for us: it was given them by `create` or `update`. Defaults fill in what an older version lacked. */
export function asQemu(properties: Properties): QemuProperties {
  return { ...defaults, ...properties } as unknown as QemuProperties;
}

/** Options of old QEMU versions about acceleration, in the form of today; the kept text is the rewritten one. */
function rewriteOptions(options: string): string {
  return options
    .trim()
    .replace(/(?<!\S)-no-(kvm|hax)(?!\S)/g, '-machine accel=tcg')
    .replace(/(?<!\S)-enable-kvm(?!\S)/g, process.platform === 'linux' ? '-machine accel=kvm' : '')
    .replace(/(?<!\S)-enable-hax(?!\S)/g, '')
    .trim();
}
