/** The worked lab of routers with virtual machines in place of containers: the same file, links and checks. */
import type { Lab, LabNode } from '../lab/file/lab.ts';
import type { Guest } from './guest/guest.ts';
import { guestCommandLine } from './guest/guest.ts';
import { routerRamMiB } from './guest/router.ts';

/** Adapters of a router, as in the file. */
const adapters = 3;

export function withMachines(lab: Lab, router: Guest): Lab {
  return { ...lab, nodes: lab.nodes.map((node) => (node.kind === 'docker' ? machineOf(node, router) : node)) };
}

function machineOf(node: LabNode, router: Guest): LabNode {
  const { image: _image, ...short } = node.short;
  return {
    ...node,
    kind: 'qemu',
    short,
    fields: { ...node.fields, port_name_format: 'eth{0}', console_type: 'telnet' },
    properties: {
      ram: routerRamMiB,
      adapters,
      adapter_type: 'virtio-net-pci',
      kernel_image: router.kernel,
      initrd: router.initrd,
      kernel_command_line: guestCommandLine(
        node.name,
        Array.from({ length: adapters }, () => '-'),
      ),
      hdd_disk_interface: 'virtio',
    },
    files: new Map([['config/frr.conf', node.files.get('etc/frr/frr.conf') ?? '']]),
  };
}
