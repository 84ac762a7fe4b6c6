/** The verbs of the kind "ethernet_hub". */
import { isDeepStrictEqual } from 'node:util';
import type { Driver } from '../driver.ts';
import { fabricDriver } from '../fabric-switches/fabric-driver.ts';
import { renumbered } from '../fabric-switches/fabric-kind.ts';
import type { Host } from '../host/host.ts';
import { eightPorts, ethernetHubKind, type HubPort } from './kind.ts';

export function ethernetHubDriver(host: Host): Driver {
  return fabricDriver(host, {
    kind: ethernetHubKind,
    create: (input) => ({ ports_mapping: input.ports_mapping ?? eightPorts }),
    update: (current, { ports_mapping: wanted }) => {
      const isOther = wanted !== undefined && !isDeepStrictEqual(wanted, current.ports_mapping);
      return isOther ? { ports_mapping: renumbered(wanted as HubPort[]) } : current;
    },
    settings: (properties, port) => ((properties.ports_mapping as readonly HubPort[])[port] ? { medium: 'hub' } : undefined),
  });
}
