/** Templates of VMware machines. Source: the established v2 API. */
import { Name } from '../../schema/common.ts';
import { symbol, whole, word } from '../facts/template-pieces.ts';
import { virtualMachineProperties } from '../facts/virtual-machine.ts';
import type { TemplateFacts } from '../kind.ts';

const adapterTypes = ['default', 'e1000', 'e1000e', 'flexible', 'vlance', 'vmxnet', 'vmxnet2', 'vmxnet3'] as const;

export const vmwareTemplate: TemplateFacts = {
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
