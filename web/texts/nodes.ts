/** Texts of nodes: kinds, properties, files, and dialogs of one node. */
import type { NodeType } from '../../src/schema/node.ts';

export const kind: Readonly<Record<NodeType, string>> = {
  cloud: 'Cloud',
  nat: 'NAT',
  ethernet_hub: 'Ethernet hub',
  ethernet_switch: 'Ethernet switch',
  frame_relay_switch: 'Frame Relay switch',
  atm_switch: 'ATM switch',
  docker: 'Docker container',
  dynamips: 'Dynamips router',
  vpcs: 'VPCS',
  traceng: 'TraceNG',
  virtualbox: 'VirtualBox VM',
  vmware: 'VMware VM',
  iou: 'IOU device',
  qemu: 'QEMU VM',
};

/** Labels of properties whose names are unclear. */
export const properties: Readonly<Record<string, string>> = {
  ram: 'Memory',
  cpus: 'Processors',
  adapters: 'Network adapters',
  adapter_type: 'Adapter model',
  hda_disk_image: 'First disk (hda)',
  hda_disk_interface: 'Interface of hda',
  hdb_disk_image: 'Second disk (hdb)',
  hdb_disk_interface: 'Interface of hdb',
  hdc_disk_image: 'Third disk (hdc)',
  hdc_disk_interface: 'Interface of hdc',
  hdd_disk_image: 'Fourth disk (hdd)',
  hdd_disk_interface: 'Interface of hdd',
  cdrom_image: 'CD-ROM',
  bios_image: 'Firmware',
  boot_priority: 'Boot order',
  console_type: 'Console',
  mac_address: 'MAC address',
  on_close: 'When the project closes',
  qemu_path: 'Emulator',
  tpm: 'TPM',
  uefi: 'UEFI',
  usage: 'Notes',
  ports_mapping: 'Ports',
  broadcast_limit: 'Broadcast limit',
  multicast_limit: 'Multicast limit',
  unknown_unicast_limit: 'Unknown unicast limit',
  vlan: 'VLAN',
};

export const propertyGroups = {
  hardware: 'Hardware',
  disks: 'Images and disks',
  network: 'Network',
  console: 'Console',
  general: 'General',
  advanced: 'Advanced',
} as const;

export const status = { started: 'Running', stopped: 'Stopped', suspended: 'Suspended' } as const;

export const convert = {
  why: (kind: string) =>
    `This server does not drive ${kind}: the node starts on a GNS3 compute only. Convert it to a QEMU node with its disks to run it here.`,
  offer: 'Convert to a QEMU node…',
  offerTemplate: 'Convert to QEMU…',
  title: (name: string) => `Convert ${name} to QEMU`,
  explanation:
    'The new node stands beside this one and has its network adapters, their MAC addresses and its memory. Choose its disks (VDI, VMDK, VHD), or upload them.',
  ofTemplate:
    'A new QEMU template has its network adapters, names of ports and memory; this one stays. Choose its disks (VDI, VMDK, VHD), or upload them.',
  disk: (number: number) => `Disk ${number}`,
  action: 'Convert',
  busy: 'Converting. Large disks take minutes; the dialog may be closed meanwhile.',
  done: (from: string, to: string) => `${to} was made of ${from}`,
} as const;

export const warmTemplate = {
  offer: 'Keep as warm template',
  busy: 'Keeping',
  done: (name: string, size: string, pausedMs: number) =>
    `The template ${name} holds the booted machine: ${size}, paused for ${pausedMs} ms. Rename it in the list of templates.`,
  holds: (size: string) => `Warm: ${size}`,
  explanation: (node: string) =>
    `New nodes continue from the memory of ${node}, with its MAC addresses, host name and keys. They start cold when their machine was changed, and each time they were stopped.`,
} as const;

export const move = {
  offer: 'Move to another compute…',
  title: (name: string) => `Move ${name}`,
  explanation: 'A running QEMU machine continues there. Stop other nodes first.',
  compute: 'Compute',
  action: 'Move',
  busy: 'Moving',
  done: (name: string, pausedMs: number | undefined) =>
    pausedMs === undefined ? `${name} was moved` : `${name} was moved: paused for ${pausedMs} ms`,
} as const;

export const config = {
  open: 'Configuration files',
  of: (name: string) => `Configuration of ${name}`,
  file: 'File',
  fileHint: 'A path in the folder of the node',
  content: 'Content of the file',
  missing: 'This file does not exist yet. Saving creates it.',
  binary: 'This file is not text, or too long to edit. Upload or download it.',
  upload: 'a file to replace it',
  saved: (path: string) => `Saved ${path}`,
  nextStart: 'Applies when the node starts next.',
  notSaved: 'Not saved. It is kept when you close this dialog.',
  discard: 'Discard changes',
  compare: 'Show changes since the last version',
  same: 'No changes.',
  tooDifferent: 'The versions differ too much to be compared.',
} as const;
