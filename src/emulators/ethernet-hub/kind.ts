/** Facts of the kind "ethernet_hub": every frame leaves by every other port. */
import { Name, strict } from '../../schema/common.ts';
import { filled } from '../../schema/template.ts';
import { type Static, Type } from '../../schema/type.ts';
import { fabricFacts, mappedPorts } from '../fabric-switches/fabric-kind.ts';
import { bodySchemas, withoutConsole } from '../facts/always-running.ts';
import { symbol } from '../facts/template-pieces.ts';
import type { Kind, TemplateFacts } from '../kind.ts';

const maxPorts = 1024;

const HubPort = Type.Object(
  {
    name: Name(),
    port_number: Type.Integer({ minimum: 0, description: 'Not used: the number of a port is its place in the list' }),
  },
  strict,
);
export type HubPort = Static<typeof HubPort>;

const HubPorts = Type.Array(HubPort, { maxItems: maxPorts });

const changeable = { ports_mapping: Type.Optional(HubPorts) };

export const eightPorts: readonly HubPort[] = Object.freeze(
  Array.from({ length: 8 }, (_, number) => ({ name: `Ethernet${number}`, port_number: number })),
);

const template: TemplateFacts = {
  default_name_format: 'Hub{0}',
  symbol: symbol('hub'),
  ownSymbol: {
    name: 'hub',
    width: 72,
    height: 32,
    figure: 'box',
    letters: 'HUB',
    theme: { category: 'ethernet_hub', affinity: 'hub' },
  },
  category: 'switch',
  properties: { ports_mapping: filled(HubPorts, eightPorts) },
  builtIn: { template_id: 'b4503ea9-d6b6-3695-9fe4-1db3b39290b0', name: 'Ethernet hub' },
};

export const ethernetHubKind: Kind = {
  type: 'ethernet_hub',
  title: 'Ethernet hub',
  template,
  ...bodySchemas(changeable),
  folder: 'ethernet-hub',
  lab: { portList: 'plain' },
  ...fabricFacts,
  ...withoutConsole,
  ports: (properties) => mappedPorts(properties.ports_mapping ?? eightPorts),
};
