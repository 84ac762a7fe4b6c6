/** Facts of the kind "virtualbox": a machine of VirtualBox. Source: the GNS3 2.2 v2 API. */
import { Name, nullable, strict } from '../../schema/common.ts';
import { ComputeNodeId } from '../../schema/node.ts';
import { Type } from '../../schema/type.ts';
import { symbol, whole, word } from '../facts/template-pieces.ts';
import { convertedMachine, virtualMachineFacts, virtualMachineFields, virtualMachineProperties } from '../facts/virtual-machine.ts';
import type { Kind, TemplateFacts } from '../kind.ts';

const changeable = {
  ...virtualMachineFields,
  adapters: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 36 }))),
  linked_clone: Type.Optional(Type.Boolean({ description: 'The node runs a clone of its own' })),
  ram: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535, description: 'MiB; 0: as the machine has it' })),
};

/** The model that new adapters have. */
export const defaultAdapter = 'Intel PRO/1000 MT Desktop (82540EM)';

const adapterTypes = [
  'PCnet-PCI II (Am79C970A)',
  'PCNet-FAST III (Am79C973)',
  defaultAdapter,
  'Intel PRO/1000 T Server (82543GC)',
  'Intel PRO/1000 MT Server (82545EM)',
  'Paravirtualized Network (virtio-net)',
] as const;

const template: TemplateFacts = {
  default_name_format: '{name}-{0}',
  symbol: symbol('vbox_guest'),
  ownSymbol: {
    name: 'vbox_guest',
    width: 65,
    height: 59,
    figure: 'screen',
    letters: 'VB',
    theme: { category: 'vbox_guest', affinity: 'virtualbox' },
  },
  category: 'guest',
  properties: {
    ...virtualMachineProperties,
    adapter_type: word(adapterTypes, defaultAdapter),
    adapters: whole(1, 'Network adapters', 0, 36),
    ram: whole(256, 'MiB', 0, 65_535),
    vmname: Name(),
  },
};

/** QEMU's adapter models for VirtualBox's: the same models, or the nearest ones. */
const qemuAdapters: Readonly<Record<string, string>> = {
  'PCnet-PCI II (Am79C970A)': 'pcnet',
  'PCNet-FAST III (Am79C973)': 'pcnet',
  [defaultAdapter]: 'e1000',
  'Intel PRO/1000 T Server (82543GC)': 'e1000-82544gc',
  'Intel PRO/1000 MT Server (82545EM)': 'e1000-82545em',
  'Paravirtualized Network (virtio-net)': 'virtio-net-pci',
};

export const virtualboxKind: Kind = {
  ...virtualMachineFacts,
  type: 'virtualbox',
  title: 'VirtualBox VM',
  template,
  create: Type.Object({ ...changeable, name: Name(), node_id: ComputeNodeId, vmname: Name() }, strict),
  update: Type.Object({ ...changeable, name: Type.Optional(nullable(Name())), vmname: Type.Optional(Name()) }, strict),
  folder: 'virtualbox',
  lab: { memory: 'ram', fixed: ['linked_clone'] },
  converted: ({ adapters, adapter_type, ram }) =>
    convertedMachine({ adapters, adapterType: qemuAdapters[String(adapter_type)], ram: ram === 0 ? undefined : ram }),
  hasFolder: ({ linked_clone }) => linked_clone === true,
};
