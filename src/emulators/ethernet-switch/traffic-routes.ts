/** Routes of traffic between stations at Ethernet switches: they are inside the fabric, so nothing of theirs is a process. */
import { randomUUID } from 'node:crypto';
import { fault } from '../../api/faults.ts';
import { computeRoute } from '../../api/route.ts';
import type { TrafficFigures } from '../../fabric/protocol.ts';
import { longestTrafficMs, mostTrafficFlows, TrafficFlowFigures, TrafficStart, trafficDurationMs } from '../../schema/traffic.ts';
import type { NodeAccess } from '../driver.ts';
import type { Host } from '../host/host.ts';

const node = '/v2/compute/projects/{project_id}/ethernet_switch/nodes/{node_id}/traffic' as const;

export function trafficRoutes({ switches }: Host, nodes: NodeAccess) {
  return [
    computeRoute(
      `POST ${node}`,
      {
        summary: 'Send traffic from a station at a switch to one at another',
        body: TrafficStart,
        status: 201,
        reply: TrafficFlowFigures,
        own: true,
      },
      async ({ path, body }) => {
        const { source, sink, gaps_us, sizes } = body;
        if (trafficDurationMs(gaps_us) > longestTrafficMs) {
          throw fault('invalid_request', { reason: `gaps_us: traffic lasts at most ${longestTrafficMs / 60_000} minutes` });
        }
        const station = (node_id: string, { address, next_hop, vlan = 1 }: typeof source) => ({
          ...{ switch: nodes.get({ project_id: path.project_id, node_id }).nodeId, vlan },
          ...{ address, nextHop: next_hop },
        });
        const id = `${path.project_id}/${path.node_id}/${randomUUID()}`;
        const flow = { id, source: station(path.node_id, source), sink: station(sink.node_id, sink), gapsUs: gaps_us, sizes };
        const figures = await switches.traffic.start(flow);
        if (!figures) throw fault('traffic_too_many', { most: mostTrafficFlows });
        return present(id, figures);
      },
    ),
    computeRoute(
      `GET ${node}/{traffic_id}`,
      { summary: 'What became of traffic so far', reply: TrafficFlowFigures, own: true },
      async ({ path }) => {
        const id = `${path.project_id}/${nodes.get(path).nodeId}/${path.traffic_id}`;
        const figures = await switches.traffic.read(id);
        if (!figures) throw fault('traffic_not_found', { traffic_id: path.traffic_id });
        return present(id, figures);
      },
    ),
    computeRoute(`DELETE ${node}/{traffic_id}`, { summary: 'End traffic', status: 204, own: true }, ({ path }) =>
      switches.traffic.remove(`${path.project_id}/${nodes.get(path).nodeId}/${path.traffic_id}`),
    ),
  ];
}

function present(id: string, { problem, delayMs, longestGapMs, ...counts }: TrafficFigures) {
  return {
    traffic_id: id.slice(id.lastIndexOf('/') + 1),
    ...counts,
    problem: problem ?? null,
    longest_gap_ms: longestGapMs,
    delay_ms: delayMs ?? null,
  };
}
