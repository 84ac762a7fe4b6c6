/** Facts of the kind "vpcs": a small simulated PC, good for pings. Sources of the constants: README.md beside this file. */

import { Name, nullable, oneOf, strict, TcpPort, Uuid } from '../../schema/common.ts';
import { Type } from '../../schema/type.ts';
import type { Kind } from '../kind.ts';

const consoleTypes = ['telnet', 'none'] as const;

/** A startup script is a file's content, not a name: this is its limit in characters. */
const maxScriptLength = 65_536;

const changeable = {
  console: Type.Optional(nullable(TcpPort)),
  console_type: Type.Optional(oneOf(consoleTypes)),
};

export const vpcsKind: Kind = {
  type: 'vpcs',
  title: 'VPCS',
  create: Type.Object(
    {
      ...changeable,
      name: Name(),
      node_id: Type.Optional(Uuid),
      startup_script: Type.Optional(
        nullable(Type.String({ maxLength: maxScriptLength, description: 'Commands run at each start; %h stands for the name' })),
      ),
    },
    strict,
  ),
  update: Type.Object({ ...changeable, name: Type.Optional(Name()) }, strict),
  folder: 'vpcs',
  can: {
    suspend: false,
    filter: true,
    resetConsole: true,
    reload: true,
    duplicate: true,
    startAnswersNode: true,
    addressesByPort: true,
  },
  alwaysRunning: false,
  consoleTypes,
  baseFiles: { 'vpcs_base_config.txt': 'set pcname %h\n' },
  defaults: {
    console_type: 'telnet',
    symbol: ':/symbols/vpcs_guest.svg',
    category: 'guest',
    name_format: 'PC{0}',
    port_name_format: 'Ethernet{0}',
    port_segment_size: 0,
  },
  ports: () => [
    {
      adapter_number: 0,
      port_number: 0,
      name: 'Ethernet0',
      short_name: 'e0',
      link_type: 'ethernet',
      data_link_types: { Ethernet: 'DLT_EN10MB' },
    },
  ],
};
