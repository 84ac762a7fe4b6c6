/** Templates of clouds. Source: the established v2 API. */
import { Name, oneOf, strict, TcpPort } from '../../schema/common.ts';
import { filled } from '../../schema/template.ts';
import { Type } from '../../schema/type.ts';
import { symbol, word } from '../facts/template-pieces.ts';
import type { TemplateFacts } from '../kind.ts';

const portNumber = Type.Integer({ minimum: 0 });

export const cloudPort = Type.Union([
  Type.Object({ name: Name(), port_number: portNumber, type: oneOf(['ethernet', 'tap']), interface: Name() }, strict),
  Type.Object(
    { name: Name(), port_number: portNumber, type: oneOf(['udp']), lport: TcpPort, rhost: Name(), rport: TcpPort },
    strict,
  ),
]);

export const cloudTemplate: TemplateFacts = {
  default_name_format: 'Cloud{0}',
  symbol: symbol('cloud'),
  ownSymbol: { name: 'cloud', width: 159, height: 71, figure: 'cumulus', theme: { category: 'cloud', affinity: 'cloud' } },
  category: 'guest',
  properties: {
    ports_mapping: filled(Type.Array(cloudPort), []),
    remote_console_host: filled(Name(), '127.0.0.1'),
    remote_console_http_path: filled(Name(), '/'),
    remote_console_port: filled(TcpPort, 23),
    remote_console_type: word(['telnet', 'vnc', 'spice', 'http', 'https', 'none'], 'none'),
  },
  builtIn: { template_id: '39e257dc-8412-3174-b6b3-0ee3ed6a43e9', name: 'Cloud' },
};
