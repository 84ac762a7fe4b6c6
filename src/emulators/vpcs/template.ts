/** Templates of VPCS nodes. Source: the established v2 API. */
import { Name } from '../../schema/common.ts';
import { filled } from '../../schema/template.ts';
import { autoStart, symbol, telnetOrNone, word } from '../facts/template-pieces.ts';
import type { TemplateFacts } from '../kind.ts';

/** The file of the configs folder from which new nodes get their startup script. */
export const baseScript = 'vpcs_base_config.txt';

export const vpcsTemplate: TemplateFacts = {
  default_name_format: 'PC{0}',
  symbol: symbol('vpcs_guest'),
  ownSymbol: {
    name: 'vpcs_guest',
    width: 65,
    height: 59,
    figure: 'screen',
    letters: 'PC',
    theme: { category: 'vpcs_guest', affinity: 'client' },
  },
  category: 'guest',
  properties: {
    ...autoStart,
    base_script_file: filled(Name({ description: 'In the configs folder' }), baseScript),
    console_type: word(telnetOrNone, 'telnet'),
  },
  builtIn: {
    template_id: '19021f99-e36f-394d-b4a1-8aaa902ab9cc',
    name: 'VPCS',
    settings: { properties: { base_script_file: baseScript } },
  },
};
