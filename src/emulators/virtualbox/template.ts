/** Templates of VirtualBox machines. Source: the established v2 API. */
import { Name } from '../../schema/common.ts';
import { symbol, whole, word } from '../facts/template-pieces.ts';
import { virtualMachineProperties } from '../facts/virtual-machine.ts';
import type { TemplateFacts } from '../kind.ts';

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

export const virtualboxTemplate: TemplateFacts = {
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
