/** Templates of Ethernet hubs. Source: the established v2 API. */
import { filled } from '../../schema/template.ts';
import { symbol } from '../facts/template-pieces.ts';
import type { TemplateFacts } from '../kind.ts';
import { eightPorts, HubPorts } from './kind.ts';

export const ethernetHubTemplate: TemplateFacts = {
  default_name_format: 'Hub{0}',
  symbol: symbol('hub'),
  ownSymbol: {
    name: 'hub',
    width: 72,
    height: 32,
    figure: 'box',
    letters: 'HUB',
    theme: { category: 'ethernet_hub', affinity: 'hub' },
  },
  category: 'switch',
  properties: { ports_mapping: filled(HubPorts, eightPorts) },
  builtIn: { template_id: 'b4503ea9-d6b6-3695-9fe4-1db3b39290b0', name: 'Ethernet hub' },
};
