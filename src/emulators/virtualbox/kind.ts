/** Facts of the kind "virtualbox": a machine of VirtualBox. Source: the established v2 API. */
import { Name, nullable, strict } from '../../schema/common.ts';
import { ComputeNodeId } from '../../schema/node.ts';
import { Type } from '../../schema/type.ts';
import { virtualMachineFacts, virtualMachineFields } from '../facts/virtual-machine.ts';
import type { Kind } from '../kind.ts';

const changeable = {
  ...virtualMachineFields,
  adapters: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 36 }))),
  linked_clone: Type.Optional(Type.Boolean({ description: 'The node runs a clone of its own' })),
  ram: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535, description: 'MiB; 0: as the machine has it' })),
};

export const virtualboxKind: Kind = {
  ...virtualMachineFacts,
  type: 'virtualbox',
  title: 'VirtualBox VM',
  create: Type.Object({ ...changeable, name: Name(), node_id: ComputeNodeId, vmname: Name() }, strict),
  update: Type.Object({ ...changeable, name: Type.Optional(nullable(Name())), vmname: Type.Optional(Name()) }, strict),
  folder: 'virtualbox',
  hasFolder: ({ linked_clone }) => linked_clone === true,
};
