/** Facts of the kind "vmware": a machine of VMware. Source: the established v2 API. */
import { Name, nullable, strict } from '../../schema/common.ts';
import { ComputeNodeId } from '../../schema/node.ts';
import { Type } from '../../schema/type.ts';
import { virtualMachineFacts, virtualMachineFields } from '../facts/virtual-machine.ts';
import type { Kind } from '../kind.ts';

const changeable = {
  ...virtualMachineFields,
  adapters: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 10 }))),
};
const linkedClone = Type.Boolean({ description: 'The node runs a clone of its own' });

export const vmwareKind: Kind = {
  ...virtualMachineFacts,
  type: 'vmware',
  title: 'VMware VM',
  create: Type.Object({ ...changeable, name: Name(), node_id: ComputeNodeId, linked_clone: linkedClone, vmx_path: Name() }, strict),
  update: Type.Object(
    {
      ...changeable,
      name: Type.Optional(nullable(Name())),
      linked_clone: Type.Optional(linkedClone),
      vmx_path: Type.Optional(Name()),
    },
    strict,
  ),
  folder: 'vmware',
};
