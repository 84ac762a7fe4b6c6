/** Templates of Ethernet switches. Source: the established v2 API. */
import { filled } from '../../schema/template.ts';
import { symbol, telnetOrNone, word } from '../facts/template-pieces.ts';
import type { TemplateFacts } from '../kind.ts';
import { eightPorts, SwitchPorts } from './kind.ts';

export const ethernetSwitchTemplate: TemplateFacts = {
  default_name_format: 'Switch{0}',
  symbol: symbol('ethernet_switch'),
  ownSymbol: {
    name: 'ethernet_switch',
    width: 72,
    height: 32,
    figure: 'box',
    theme: { category: 'ethernet_switch', affinity: 'switch' },
  },
  category: 'switch',
  properties: {
    console_type: word(telnetOrNone, 'none'),
    ports_mapping: filled(
      SwitchPorts,
      eightPorts.map((port) => ({ ...port, ethertype: '' })),
    ),
  },
  builtIn: {
    template_id: '1966b864-93e7-32d5-965f-001384eec461',
    name: 'Ethernet switch',
    settings: { console_type: 'none' },
  },
};
