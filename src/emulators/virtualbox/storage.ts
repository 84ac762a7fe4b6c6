/** Machines of VirtualBox, which this server does not drive. */
import { virtualMachineDefaults } from '../facts/virtual-machine.ts';
import type { StorageOnlyFacts } from '../storage-only/storage-only-driver.ts';
import { defaultAdapter, virtualboxKind } from './kind.ts';

export const virtualboxStorage: StorageOnlyFacts = {
  kind: virtualboxKind,
  defaults: ({ vmname }) => ({
    ...virtualMachineDefaults,
    adapter_type: defaultAdapter,
    linked_clone: false,
    ram: 0,
    vmname,
  }),
  hidden: ['custom_adapters'],
  refused: [
    {
      key: 'GET /v2/compute/virtualbox/vms',
      summary: 'List the machines of VirtualBox',
      what: 'list machines of VirtualBox',
    },
  ],
  exception: 'VirtualBoxError',
  missing:
    'it does not drive VirtualBox. Place the node on a compute that does, or convert it to one of QEMU: upload its disk (VDI, VMDK) and send its name to POST …/nodes/{node_id}/convert',
};
