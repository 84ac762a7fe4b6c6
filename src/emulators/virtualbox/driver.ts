/** Machines of VirtualBox, which this server does not drive. */
import { route } from '../../api/route.ts';
import type { Driver } from '../driver.ts';
import { virtualMachineDefaults } from '../facts/virtual-machine.ts';
import { type AbsentFacts, absentDriver, emulatorAbsent } from '../storage-only/absent-driver.ts';
import { virtualboxKind } from './kind.ts';
import { defaultAdapter } from './template.ts';

const facts: AbsentFacts = {
  kind: virtualboxKind,
  defaults: (given) => ({
    ...virtualMachineDefaults,
    adapter_type: defaultAdapter,
    linked_clone: false,
    ram: 0,
    vmname: given.vmname,
  }),
  hidden: ['custom_adapters'],
  exception: 'VirtualBoxError',
  missing: 'it does not drive VirtualBox. Place the node on a compute that does, or convert the machine to one of QEMU',
};

export function virtualboxDriver(): Driver {
  return {
    ...absentDriver(facts),
    routes: () => [
      route('GET /v2/compute/virtualbox/vms', { summary: 'List the machines of VirtualBox' }, () => {
        throw emulatorAbsent(facts, 'list machines of VirtualBox');
      }),
    ],
  };
}
