/** Facts of the kind "ethernet_hub": every frame leaves by every other port. */
import { Name, strict } from '../../schema/common.ts';
import { type Static, Type } from '../../schema/type.ts';
import { fabricFacts, mappedPorts } from '../fabric-switches/fabric-kind.ts';
import { bodySchemas, withoutConsole } from '../facts/always-running.ts';
import type { Kind } from '../kind.ts';

const maxPorts = 1024;

const HubPort = Type.Object(
  {
    name: Name(),
    port_number: Type.Integer({ minimum: 0, description: 'Not used: the number of a port is its place in the list' }),
  },
  strict,
);
export type HubPort = Static<typeof HubPort>;

export const HubPorts = Type.Array(HubPort, { maxItems: maxPorts });

const changeable = { ports_mapping: Type.Optional(HubPorts) };

export const ethernetHubKind: Kind = {
  type: 'ethernet_hub',
  title: 'Ethernet hub',
  ...bodySchemas(changeable),
  folder: 'ethernet-hub',
  ...fabricFacts,
  ...withoutConsole,
  ports: (properties) => mappedPorts(properties.ports_mapping ?? eightPorts),
};

export const eightPorts: readonly HubPort[] = Object.freeze(
  Array.from({ length: 8 }, (_, number) => ({ name: `Ethernet${number}`, port_number: number })),
);
