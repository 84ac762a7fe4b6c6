/**
 * Driver of the kinds that are a switch inside the fabric. Nothing of theirs runs: what their ports do stands in the links that end
 * there, so they are "started" by saying so, keep running without a server, and are adopted by saying so again.
 */
import { computeRoute } from '../../api/route.ts';
import type { SwitchPortSettings } from '../../fabric/protocol.ts';
import { SwitchPortStats } from '../../schema/switch.ts';
import { Type } from '../../schema/type.ts';
import type { Driver, Emulator, Ending, NodeAccess, NodeView, Properties } from '../driver.ts';
import type { FabricSwitches, Host } from '../host/host.ts';
import type { Kind } from '../kind.ts';

interface FabricKind {
  readonly kind: Kind;
  /** Checks what a client wants and completes it. */
  readonly create: (input: Properties) => Properties;
  /** Checks and completes a change of one key or more. */
  readonly update: (current: Properties, changes: Properties) => Properties;
  /** Returns the settings of a port; undefined when there is no such port. */
  readonly settings: (properties: Properties, port: number) => SwitchPortSettings | undefined;
  /** Routes that no other kind has. */
  readonly routes?: Driver['routes'];
}

export function fabricDriver(host: Host, { kind, create, update, settings, routes }: FabricKind): Driver {
  const start = async (node: NodeView) => fabricEmulator(node, settings);
  return {
    kind,
    create: async (input) => create(input),
    update: async (current, changes) => update(current, changes),
    present: (properties) => properties,
    start,
    adopt: start,
    routes: (nodes) => [portStatsRoute(host, kind, nodes), ...(routes?.(nodes) ?? [])],
  };
}

export function portStatsRoute({ switches }: Host, { type, title }: Kind, nodes: NodeAccess) {
  return computeRoute(
    `GET /v2/compute/projects/{project_id}/${type}/nodes/{node_id}/port_stats`,
    { summary: `What the joined ports of a ${title} have received, sent and lost`, reply: Type.Array(SwitchPortStats), own: true },
    ({ path }) => portStats(switches, nodes.get(path).nodeId),
  );
}

function fabricEmulator({ nodeId, properties: first }: NodeView, settings: FabricKind['settings']): Emulator {
  let properties = first;
  const ended = Promise.withResolvers<Ending>();
  return {
    record: {},
    commandLine: '',
    ended: ended.promise,
    state: 'started',
    onState: () => {},
    suspend: async () => {},
    resume: async () => {},
    reset: async () => false,
    stop: async () => ended.resolve({ how: 'stopped', reason: 'it was stopped' }),
    port: (_adapter, port) => {
      const found = settings(properties, port);
      return found && { type: 'switch', switch: nodeId, port, settings: found };
    },
    setCarrier: async () => {},
    console: () => undefined,
    changed: async (next) => {
      properties = next;
    },
    release: () => {},
  };
}

async function portStats(switches: FabricSwitches, nodeId: string): Promise<object[]> {
  const [found] = await switches.switchStats([nodeId]);
  return (found?.ports ?? []).map(({ port, receivedBytes, sentBytes, ...counts }) => ({
    port_number: port,
    ...counts,
    received_bytes: receivedBytes,
    sent_bytes: sentBytes,
  }));
}
