/** Settings of a machine that nodes and templates have alike: their schemas, said once. Source: the GNS3 2.2 v2 API. */
import { oneOf, Text } from '../../schema/common.ts';
import { type TSchema, Type } from '../../schema/type.ts';
import { closeActions } from '../facts/template-pieces.ts';

export { closeActions };
export const bootPriorities = ['c', 'd', 'n', 'cn', 'cd', 'dn', 'dc', 'nc', 'nd'] as const;
export const processPriorities = ['realtime', 'very high', 'high', 'normal', 'low', 'very low'] as const;

const image = (what: string) => Text({ description: `${what}: a name in the image folders, or a path` });
const flag = (description: string) => Type.Boolean({ description });

export const fields = {
  adapters: Type.Integer({ minimum: 0, maximum: 275, description: 'Network adapters' }),
  bios_image: image('Firmware'),
  boot_priority: oneOf(bootPriorities, { description: 'c: disk, d: CD-ROM, n: network' }),
  cdrom_image: image('CD-ROM; a running machine gets the new one at once'),
  cpu_throttling: Type.Integer({ minimum: 0, maximum: 800, description: 'Percent of one processor; 0: no limit' }),
  cpus: Type.Integer({ minimum: 1, maximum: 255, description: 'Processors' }),
  create_config_disk: flag('Attach config.img of the image folder as fourth disk, where there is one'),
  hda_disk_image: image('First disk'),
  hdb_disk_image: image('Second disk'),
  hdc_disk_image: image('Third disk'),
  hdd_disk_image: image('Fourth disk'),
  initrd: image('Initial RAM disk'),
  kernel_command_line: Text({ description: 'Arguments of the kernel' }),
  kernel_image: image('Kernel, started without a boot loader'),
  legacy_networking: flag('The -net syntax of QEMU before 2.9'),
  linked_clone: flag('The node writes to overlays of its own; otherwise to the images themselves'),
  on_close: oneOf(closeActions),
  options: Text({ description: 'Added to the command line, quoted as in a shell' }),
  process_priority: oneOf(processPriorities),
  ram: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description: 'MiB' }),
  replicate_network_connection_state: flag('Show the guest which adapters are connected'),
  tpm: flag('A TPM 2.0; needs swtpm'),
  uefi: flag('UEFI firmware; needs OVMF'),
} satisfies Record<string, TSchema>;
