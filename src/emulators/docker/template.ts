/** Templates of Docker containers. Source: the established v2 API. */
import { Name, TcpPort, Text } from '../../schema/common.ts';
import { filled } from '../../schema/template.ts';
import { Type } from '../../schema/type.ts';
import { autoStart, customAdapters, empty, macAddress, symbol, usage, whole, word } from '../facts/template-pieces.ts';
import type { TemplateFacts } from '../kind.ts';

export const dockerTemplate: TemplateFacts = {
  default_name_format: '{name}-{0}',
  symbol: symbol('docker_guest'),
  ownSymbol: {
    name: 'docker_guest',
    width: 65,
    height: 59,
    figure: 'screen',
    letters: 'C',
    theme: { category: 'docker_guest', affinity: 'docker' },
    ofGuests: true,
  },
  category: 'guest',
  properties: {
    ...usage,
    ...macAddress,
    ...autoStart,
    ...customAdapters,
    adapters: whole(1, 'Network adapters', 0, 99),
    console_http_path: filled(Name(), '/'),
    console_http_port: filled(TcpPort, 80),
    console_resolution: filled(Type.String({ pattern: '^[0-9]{1,5}x[0-9]{1,5}$' }), '1024x768'),
    console_type: word(['telnet', 'vnc', 'http', 'https', 'none'], 'telnet'),
    environment: empty('One KEY=VALUE a line'),
    extra_hosts: empty('One host:address a line'),
    extra_volumes: filled(Type.Array(Text()), []),
    image: Name(),
    start_command: empty('In place of what the image says'),
  },
};
