/** The verbs of the kind "ethernet_switch", and the routes of its table of MAC addresses. */
import { isDeepStrictEqual } from 'node:util';
import { computeRoute } from '../../api/route.ts';
import type { EthernetSettings } from '../../fabric/protocol.ts';
import { MacEntry } from '../../schema/switch.ts';
import { Type } from '../../schema/type.ts';
import type { Driver, NodeAccess, Properties } from '../driver.ts';
import { fabricDriver } from '../fabric-switches/fabric-driver.ts';
import { renumbered } from '../fabric-switches/fabric-kind.ts';
import type { Host } from '../host/host.ts';
import { type EthernetSwitchPort, eightPorts, ethernetSwitchKind, type FloodLimits } from './kind.ts';
import { trafficRoutes } from './traffic-routes.ts';

export function ethernetSwitchDriver(host: Host): Driver {
  return fabricDriver(host, {
    kind: ethernetSwitchKind,
    create: (input) => ({ ports_mapping: input.ports_mapping ?? eightPorts, ...limitsIn(input) }),
    update: (current, changes) => {
      const { ports_mapping: wanted } = changes;
      const isOther = wanted !== undefined && !isDeepStrictEqual(wanted, current.ports_mapping);
      const ports_mapping = isOther ? renumbered(wanted as EthernetSwitchPort[]) : current.ports_mapping;
      return { ports_mapping, ...limitsIn({ ...current, ...changes }) };
    },
    settings: settingsOf,
    routes: (nodes) => [...tableRoutes(host, nodes), ...trafficRoutes(host, nodes)],
  });
}

/** The limits that were set or taken away (null): a switch that never had one has no such key, which GNS3 does not know. */
function limitsIn({ broadcast_limit, multicast_limit, unknown_unicast_limit }: FloodLimits): Properties {
  const limits = { broadcast_limit, multicast_limit, unknown_unicast_limit };
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined));
}

function stormControlOf(properties: FloodLimits): Pick<EthernetSettings, 'stormControl'> {
  const { broadcast_limit: broadcast, multicast_limit: multicast, unknown_unicast_limit: unknownUnicast } = properties;
  const limits = Object.entries({ broadcast, multicast, unknownUnicast }).filter(([, limit]) => typeof limit === 'number');
  return limits.length > 0 ? { stormControl: Object.fromEntries(limits) } : {};
}

/** GNS3's type of a tunnel's outer tag where none is given. */
const standardTagType = 0x8100;

export function settingsOf(properties: Properties, port: number): EthernetSettings | undefined {
  const entry = (properties.ports_mapping as readonly EthernetSwitchPort[])[port];
  if (!entry) return undefined;
  const { type, vlan = 1, ethertype } = entry;
  const tagType = ethertype ? Number(ethertype) : standardTagType;
  return { medium: 'ethernet', mode: type, vlan, tagType, ...stormControlOf(properties) };
}

export function tableRoutes({ switches }: Host, nodes: NodeAccess) {
  const place = `/v2/compute/projects/{project_id}/ethernet_switch/nodes/{node_id}/mac_table` as const;
  return [
    computeRoute(
      `GET ${place}`,
      { summary: 'MAC addresses that an Ethernet switch has learned, the latest first', reply: Type.Array(MacEntry), own: true },
      async ({ path }) => {
        const { nodeId, properties } = nodes.get(path);
        const names = (properties.ports_mapping as readonly EthernetSwitchPort[]).map(({ name }) => name);
        const entries = await switches.addresses(nodeId);
        return entries
          .sort((one, other) => one.ageMs - other.ageMs)
          .map(({ mac, vlan, port, ageMs }) => ({
            mac_address: mac,
            vlan,
            port_number: port,
            port_name: names[port] ?? null,
            age_seconds: Math.round(ageMs) / 1000,
          }));
      },
    ),
    computeRoute(
      `DELETE ${place}`,
      { summary: 'Have an Ethernet switch forget all MAC addresses', status: 204, own: true },
      ({ path }) => switches.forgetAddresses(nodes.get(path).nodeId),
    ),
  ];
}
