/** Machines of VMware, which this server does not drive. */
import { route } from '../../api/route.ts';
import type { Driver } from '../driver.ts';
import { virtualMachineDefaults } from '../facts/virtual-machine.ts';
import { type AbsentFacts, absentDriver, emulatorAbsent, refuseFor } from '../storage-only/absent-driver.ts';
import { vmwareKind } from './kind.ts';

const facts: AbsentFacts = {
  kind: vmwareKind,
  defaults: (given) => ({
    ...virtualMachineDefaults,
    adapter_type: 'e1000',
    linked_clone: false,
    vmx_path: given.vmx_path,
  }),
  hidden: ['custom_adapters'],
  exception: 'VMwareError',
  missing: 'it does not drive VMware. Place the node on a compute that does, or convert the machine to one of QEMU',
};

export function vmwareDriver(): Driver {
  const vmnet = { summary: 'Take a virtual network of VMware for an adapter', status: 201 };
  return {
    ...absentDriver(facts),
    routes: (nodes) => [
      route('GET /v2/compute/vmware/vms', { summary: 'List the machines of VMware' }, () => {
        throw emulatorAbsent(facts, 'list machines of VMware');
      }),
      route(
        'POST /v2/compute/projects/{project_id}/vmware/nodes/{node_id}/interfaces/vmnet',
        vmnet,
        refuseFor(facts, nodes, 'take a virtual network for an adapter'),
      ),
    ],
  };
}
