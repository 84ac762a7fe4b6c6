/** Facts of the kind "ethernet_switch": a learning switch with VLANs. Sources: README.md beside this file. */
import { Name, nullable, oneOf, strict, TcpPort } from '../../schema/common.ts';
import { mostFlooded } from '../../schema/switch.ts';
import { filled } from '../../schema/template.ts';
import { type Static, Type } from '../../schema/type.ts';
import { fabricFacts, mappedPorts } from '../fabric-switches/fabric-kind.ts';
import { bodySchemas } from '../facts/always-running.ts';
import { symbol, telnetOrNone, word } from '../facts/template-pieces.ts';
import type { Kind, TemplateFacts } from '../kind.ts';

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

const limit = (frames: string) =>
  Type.Optional(
    nullable(
      Type.Integer({
        minimum: 0,
        maximum: mostFlooded,
        description: `${frames} that each port floods in a second. Without it: all`,
      }),
    ),
  );
/** Storm control: off without them. */
const floodLimits = {
  broadcast_limit: limit('Broadcasts'),
  multicast_limit: limit('Frames to groups'),
  unknown_unicast_limit: limit('Frames to stations that are not known'),
};
export type FloodLimits = { [Key in keyof typeof floodLimits]?: number | null };

const changeable = {
  ...floodLimits,
  console: Type.Optional(nullable(TcpPort)),
  console_type: Type.Optional(oneOf(consoleTypes, { description: 'Kept; a switch has no console' })),
  ports_mapping: Type.Optional(SwitchPorts),
};

export const eightPorts: readonly EthernetSwitchPort[] = Object.freeze(
  Array.from({ length: 8 }, (_, number) => ({ name: `Ethernet${number}`, port_number: number, type: 'access', vlan: 1 }) as const),
);

const template: TemplateFacts = {
  default_name_format: 'Switch{0}',
  symbol: symbol('ethernet_switch'),
  ownSymbol: {
    name: 'ethernet_switch',
    width: 72,
    height: 32,
    figure: 'box',
    theme: { category: 'ethernet_switch', affinity: 'switch' },
  },
  category: 'switch',
  properties: {
    console_type: word(telnetOrNone, 'none'),
    ports_mapping: filled(
      SwitchPorts,
      eightPorts.map((port) => ({ ...port, ethertype: '' })),
    ),
  },
  builtIn: {
    template_id: '1966b864-93e7-32d5-965f-001384eec461',
    name: 'Ethernet switch',
    settings: { console_type: 'none' },
  },
};

export const ethernetSwitchKind: Kind = {
  type: 'ethernet_switch',
  title: 'Ethernet switch',
  template,
  ...bodySchemas(changeable),
  folder: 'ethernet-switch',
  lab: { portList: 'vlan' },
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
