/** The template of ATM switches: built in only. Source: the established v2 API. */

import { symbol } from '../facts/template-pieces.ts';
import type { TemplateFacts } from '../kind.ts';

export const atmSwitchTemplate: TemplateFacts = {
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
