/** Templates of QEMU machines. Source: the established v2 API. */
import type { TypeProperties } from '../../schema/template.ts';
import { filled } from '../../schema/template.ts';
import { autoStart, customAdapters, empty, macAddress, portNames, symbol, usage, word } from '../facts/template-pieces.ts';
import type { TemplateFacts } from '../kind.ts';
import { fields } from './fields.ts';
import { platforms } from './platforms.ts';
import { defaults } from './properties.ts';

const interfaces = ['ide', 'sata', 'nvme', 'scsi', 'sd', 'mtd', 'floppy', 'pflash', 'virtio', 'none'] as const;
const drives = ['hda', 'hdb', 'hdc', 'hdd'].map((drive) => [`${drive}_disk_interface`, word(interfaces, 'none')] as const);
const adapterTypes = [
  'e1000',
  'e1000-82544gc',
  'e1000-82545em',
  'e1000e',
  ...['i82550', 'i82551', 'i82557a', 'i82557b', 'i82557c', 'i82558a', 'i82558b', 'i82559a', 'i82559b', 'i82559c', 'i82559er'],
  ...['i82562', 'i82801', 'igb', 'ne2k_pci', 'pcnet', 'rocker', 'rtl8139', 'virtio', 'virtio-net-pci', 'vmxnet3'],
];

/** What a node has as well, with the node's own default unless the template's is another. */
const machine: TypeProperties = Object.fromEntries(
  Object.entries(fields).map(([key, schema]) => [key, filled(schema, defaults[key as keyof typeof fields])]),
);

export const qemuTemplate: TemplateFacts = {
  default_name_format: '{name}-{0}',
  symbol: symbol('qemu_guest'),
  ownSymbol: {
    name: 'qemu_guest',
    width: 65,
    height: 59,
    figure: 'screen',
    letters: 'VM',
    theme: { category: 'qemu_guest', affinity: 'client_vm' },
    ofGuests: true,
  },
  category: 'guest',
  properties: {
    ...machine,
    ...usage,
    ...portNames,
    ...macAddress,
    ...autoStart,
    ...customAdapters,
    ...Object.fromEntries(drives),
    adapter_type: word(adapterTypes, 'e1000'),
    console_type: word(['telnet', 'vnc', 'spice', 'spice+agent', 'none'], 'telnet'),
    platform: word([...platforms, ''], ''),
    process_priority: filled(fields.process_priority, 'normal'),
    qemu_path: empty('The emulator'),
  },
};
