/** The template of NAT nodes: built in only. Source: the established v2 API. */

import { symbol } from '../facts/template-pieces.ts';
import type { TemplateFacts } from '../kind.ts';

export const natTemplate: TemplateFacts = {
  default_name_format: 'NAT{0}',
  symbol: symbol('nat'),
  ownSymbol: {
    name: 'nat',
    width: 159,
    height: 71,
    figure: 'cumulus',
    letters: 'NAT',
    theme: { category: 'nat', affinity: 'nat' },
  },
  category: 'guest',
  builtIn: { template_id: 'df8f4ea9-33b7-3e96-86a2-c39bc9bb649c', name: 'NAT' },
};
