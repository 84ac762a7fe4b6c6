/** Facts of the kind "traceng": a tracer that exists for Windows only. Source: the GNS3 2.2 v2 API. */
import { Name, nullable, oneOf, strict, TcpPort, Text, Uuid } from '../../schema/common.ts';
import { Type } from '../../schema/type.ts';
import { oneEthernetPort } from '../facts/port-naming.ts';
import { symbol, word } from '../facts/template-pieces.ts';
import type { Kind, TemplateFacts } from '../kind.ts';

const consoleTypes = ['none'] as const;

const changeable = {
  console: Type.Optional(nullable(TcpPort)),
  console_type: Type.Optional(oneOf(consoleTypes)),
  default_destination: Type.Optional(nullable(Text({ description: 'Where traces go: an address or a name' }))),
  ip_address: Type.Optional(nullable(Text({ description: 'IPv4, or empty' }))),
};

const template: TemplateFacts = {
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

export const tracengKind: Kind = {
  type: 'traceng',
  title: 'TraceNG',
  template,
  create: Type.Object({ ...changeable, name: Name(), node_id: Type.Optional(Uuid) }, strict),
  update: Type.Object({ ...changeable, name: Type.Optional(nullable(Name())) }, strict),
  folder: 'traceng',
  can: {
    suspend: false,
    filter: true,
    resetConsole: false,
    reload: true,
    duplicate: true,
    startAnswersNode: true,
    addressesByPort: true,
  },
  alwaysRunning: false,
  consoleTypes,
  defaults: { console_type: 'none', port_name_format: 'Ethernet{0}', port_segment_size: 0 },
  ports: oneEthernetPort,
};
