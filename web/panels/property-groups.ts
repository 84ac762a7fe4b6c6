/** Groups of the properties of nodes and templates, by their names: kinds have many in common. */
import type { texts } from '../texts.ts';

export type GroupName = keyof typeof texts.propertyGroups;

/** Groups in order; a key belongs to the first group that matches. */
const groups: readonly (readonly [GroupName, RegExp])[] = [
  ['disks', /disk|image|initrd|kernel_command|boot_priority|^path$|iso/],
  ['network', /adapter|mac_addr|port_|first_port|^slot\d|^wic\d|ethernet|serial_adapters|ports_mapping|_limit$|^network/],
  ['console', /console|^aux/],
  [
    'hardware',
    /^(ram|cpus|maxcpus|platform|nvram|midplane|npe|chassis|memory|cpu_throttling|process_priority|uefi|tpm|mmap|sparsemem|use_default_iou_values|l1_keepalives)$/,
  ],
  [
    'general',
    /^(usage|name|start_command|environment|extra_hosts|extra_volumes|startup_|startup_config|private_config|base_script_file)/,
  ],
];
const order: readonly GroupName[] = ['hardware', 'disks', 'network', 'console', 'general', 'advanced'];

/** Shown open at first. */
export const openGroups: ReadonlySet<GroupName> = new Set(['hardware', 'disks', 'network', 'console']);

/** Groups that have members. */
export function groupsOf(keys: readonly string[]): (readonly [GroupName, string[]])[] {
  const groupOf = (key: string): GroupName => groups.find(([, pattern]) => pattern.test(key))?.[0] ?? 'advanced';
  const members = Map.groupBy(keys, groupOf);
  return order.flatMap((name) => (members.has(name) ? [[name, members.get(name) ?? []] as const] : []));
}
