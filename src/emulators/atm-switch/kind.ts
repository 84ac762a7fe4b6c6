/** Facts of the kind "atm_switch": cells take circuits by their path and channel. */
import { circuitPorts, circuitSchemas } from '../fabric-switches/circuits.ts';
import { fabricFacts } from '../fabric-switches/fabric-kind.ts';
import { withoutConsole } from '../facts/always-running.ts';
import { symbol } from '../facts/template-pieces.ts';
import type { Kind, TemplateFacts } from '../kind.ts';

export const endForm = 'port:vpi:vci or port:vpi, such as 1:0:100';

const template: TemplateFacts = {
  default_name_format: 'ATMSW{0}',
  symbol: symbol('atm_switch'),
  ownSymbol: {
    name: 'atm_switch',
    width: 51,
    height: 48,
    figure: 'box',
    letters: 'ATM',
    theme: { category: 'atm_switch', affinity: 'atm' },
  },
  category: 'switch',
  builtIn: { template_id: 'aaa764e2-b383-300f-8a0e-3493bbfdb7d2', name: 'ATM switch' },
};

export const atmSwitchKind: Kind = {
  type: 'atm_switch',
  title: 'ATM switch',
  template,
  ...circuitSchemas(endForm),
  folder: 'atm-switch',
  ...fabricFacts,
  ...withoutConsole,
  ports: (properties) => circuitPorts(properties, { ATM: 'DLT_ATM_RFC1483' }),
};
