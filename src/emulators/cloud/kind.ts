/** Facts of the kind "cloud": interfaces of this host and UDP tunnels. Sources of the constants: README.md beside this file. */
import { Name, nullable, oneOf, strict, TcpPort, Text, Uuid } from '../../schema/common.ts';
import { NodeStatus } from '../../schema/node.ts';
import { filled } from '../../schema/template.ts';
import { Type } from '../../schema/type.ts';
import { uplinkFacts } from '../facts/always-running.ts';
import { symbol, word } from '../facts/template-pieces.ts';
import type { Kind, TemplateFacts } from '../kind.ts';
import { type CloudProperties, cloudFields } from './properties.ts';

const fields = { ...cloudFields, interfaces: Type.Optional(Type.Array(Type.Unknown(), { description: 'Ignored' })) };

const portNumber = Type.Integer({ minimum: 0 });

const cloudPort = Type.Union([
  Type.Object({ name: Name(), port_number: portNumber, type: oneOf(['ethernet', 'tap']), interface: Name() }, strict),
  Type.Object(
    { name: Name(), port_number: portNumber, type: oneOf(['udp']), lport: TcpPort, rhost: Name(), rport: TcpPort },
    strict,
  ),
]);

const template: TemplateFacts = {
  default_name_format: 'Cloud{0}',
  symbol: symbol('cloud'),
  ownSymbol: { name: 'cloud', width: 159, height: 71, figure: 'cumulus', theme: { category: 'cloud', affinity: 'cloud' } },
  category: 'guest',
  properties: {
    ports_mapping: filled(Type.Array(cloudPort), []),
    remote_console_host: filled(Name(), '127.0.0.1'),
    remote_console_http_path: filled(Name(), '/'),
    remote_console_port: filled(TcpPort, 23),
    remote_console_type: word(['telnet', 'ssh', 'vnc', 'spice', 'http', 'https', 'none'], 'none'),
  },
  builtIn: { template_id: '39e257dc-8412-3174-b6b3-0ee3ed6a43e9', name: 'Cloud' },
};

export const cloudKind: Kind = {
  type: 'cloud',
  title: 'cloud',
  template,
  create: Type.Object({ ...fields, name: Name(), node_id: Type.Optional(Uuid) }, strict),
  update: Type.Object(
    {
      ...fields,
      name: Type.Optional(Name()),
      node_id: Type.Optional(Uuid),
      project_id: Type.Optional(Uuid),
      node_directory: Type.Optional(nullable(Text())),
      status: Type.Optional(NodeStatus),
    },
    strict,
  ),
  ...uplinkFacts,
  lab: { generated: ['interfaces'] },
  ports: (properties) =>
    ((properties as Partial<CloudProperties>).ports_mapping ?? []).map(({ name }, port_number) => ({
      adapter_number: 0,
      port_number,
      name,
      short_name: name,
      link_type: 'ethernet',
      data_link_types: { Ethernet: 'DLT_EN10MB' },
    })),
};
