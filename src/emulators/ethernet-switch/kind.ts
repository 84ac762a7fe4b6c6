/** Facts of the kind "ethernet_switch": a learning switch with VLANs. Sources: README.md beside this file. */
import { Name, nullable, oneOf, strict, TcpPort } from '../../schema/common.ts';
import { type Static, Type } from '../../schema/type.ts';
import { fabricFacts, mappedPorts } from '../fabric-switches/fabric-kind.ts';
import { bodySchemas } from '../facts/always-running.ts';
import type { Kind } from '../kind.ts';

const consoleTypes = ['telnet', 'none'] as const;
const maxPorts = 1024;

const EthernetSwitchPort = Type.Object(
  {
    name: Name(),
    port_number: Type.Integer({ minimum: 0, description: 'Not used: the number of a port is its place in the list' }),
    type: oneOf(['access', 'dot1q', 'qinq'], { description: 'One VLAN, a trunk, or the customer side of a tunnel' }),
    vlan: Type.Optional(Type.Integer({ minimum: 1, maximum: 4094, description: 'VLAN; on a trunk the native one. Without it: 1' })),
    ethertype: Type.Optional(
      oneOf(['', '0x8100', '0x88A8', '0x9100', '0x9200'], { description: 'Type of the outer tag of a tunnel. Without it: 0x8100' }),
    ),
  },
  strict,
);
export type EthernetSwitchPort = Static<typeof EthernetSwitchPort>;

export const SwitchPorts = Type.Array(EthernetSwitchPort, { maxItems: maxPorts });

const changeable = {
  console: Type.Optional(nullable(TcpPort)),
  console_type: Type.Optional(oneOf(consoleTypes, { description: 'Kept; a switch has no console' })),
  ports_mapping: Type.Optional(SwitchPorts),
};

export const ethernetSwitchKind: Kind = {
  type: 'ethernet_switch',
  title: 'Ethernet switch',
  ...bodySchemas(changeable),
  folder: 'ethernet-switch',
  ...fabricFacts,
  reservesConsole: true,
  consoleTypes,
  defaults: {
    console_type: 'none',
    port_name_format: 'Ethernet{0}',
    port_segment_size: 0,
  },
  ports: (properties) => mappedPorts(properties.ports_mapping ?? eightPorts),
};

export const eightPorts: readonly EthernetSwitchPort[] = Object.freeze(
  Array.from({ length: 8 }, (_, number) => ({ name: `Ethernet${number}`, port_number: number, type: 'access', vlan: 1 }) as const),
);
