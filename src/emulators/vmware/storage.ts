/** Machines of VMware, which this server does not drive. */
import { virtualMachineDefaults } from '../facts/virtual-machine.ts';
import type { StorageOnlyFacts } from '../storage-only/storage-only-driver.ts';
import { vmwareKind } from './kind.ts';

export const vmwareStorage: StorageOnlyFacts = {
  kind: vmwareKind,
  defaults: ({ vmx_path }) => ({
    ...virtualMachineDefaults,
    adapter_type: 'e1000',
    linked_clone: false,
    vmx_path,
  }),
  hidden: ['custom_adapters'],
  refused: [
    { key: 'GET /v2/compute/vmware/vms', summary: 'List the machines of VMware', what: 'list machines of VMware' },
    {
      key: 'POST /v2/compute/projects/{project_id}/vmware/nodes/{node_id}/interfaces/vmnet',
      summary: 'Take a virtual network of VMware for an adapter',
      what: 'take a virtual network for an adapter',
      status: 201,
    },
  ],
  exception: 'VMwareError',
  missing:
    'it does not drive VMware. Place the node on a compute that does, or convert it to one of QEMU: upload its disk (VDI, VMDK) and send its name to POST …/nodes/{node_id}/convert',
};
