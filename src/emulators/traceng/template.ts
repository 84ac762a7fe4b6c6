/** Templates of TraceNG nodes. Source: the established v2 API. */
import { Name } from '../../schema/common.ts';
import { Type } from '../../schema/type.ts';
import { symbol, word } from '../facts/template-pieces.ts';
import type { TemplateFacts } from '../kind.ts';

export const tracengTemplate: TemplateFacts = {
  default_name_format: 'TraceNG{0}',
  symbol: symbol('traceng'),
  ownSymbol: { name: 'traceng', width: 65, height: 59, figure: 'screen', letters: 'T' },
  category: 'guest',
  properties: {
    console_type: word(['none'], 'none'),
    default_destination: Type.Optional(Name()),
    ip_address: Type.Optional(Name()),
  },
};
