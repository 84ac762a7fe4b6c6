/** Facts of the kind "vmware": a machine of VMware. Source: the GNS3 2.2 v2 API. */
import { Name, nullable, strict } from '../../schema/common.ts';
import { ComputeNodeId } from '../../schema/node.ts';
import { Type } from '../../schema/type.ts';
import { symbol, whole, word } from '../facts/template-pieces.ts';
import { convertedMachine, virtualMachineFacts, virtualMachineFields, virtualMachineProperties } from '../facts/virtual-machine.ts';
import type { Kind, TemplateFacts } from '../kind.ts';

const changeable = {
  ...virtualMachineFields,
  adapters: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 10 }))),
};
const linkedClone = Type.Boolean({ description: 'The node runs a clone of its own' });

const adapterTypes = ['default', 'e1000', 'e1000e', 'flexible', 'vlance', 'vmxnet', 'vmxnet2', 'vmxnet3'] as const;

const template: TemplateFacts = {
  default_name_format: '{name}-{0}',
  symbol: symbol('vmware_guest'),
  ownSymbol: {
    name: 'vmware_guest',
    width: 65,
    height: 59,
    figure: 'screen',
    letters: 'VW',
    theme: { category: 'vmware_guest', affinity: 'vmware' },
  },
  category: 'guest',
  properties: {
    ...virtualMachineProperties,
    adapter_type: word(adapterTypes, 'e1000'),
    adapters: whole(1, 'Network adapters', 0, 10),
    vmx_path: Name(),
  },
};

/** QEMU's adapter models for VMware's: the same models, or the nearest ones. */
const qemuAdapters: Readonly<Record<string, string>> = {
  e1000: 'e1000',
  e1000e: 'e1000e',
  flexible: 'pcnet',
  vlance: 'pcnet',
  vmxnet: 'vmxnet3',
  vmxnet2: 'vmxnet3',
  vmxnet3: 'vmxnet3',
};

export const vmwareKind: Kind = {
  ...virtualMachineFacts,
  type: 'vmware',
  title: 'VMware VM',
  template,
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
  converted: ({ adapters, adapter_type }) => convertedMachine({ adapters, adapterType: qemuAdapters[String(adapter_type)] }),
  folder: 'vmware',
};
