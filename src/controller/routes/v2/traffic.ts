/** Traffic between stations at switches: asked of the compute of the switch that sends. */
import { fault } from '../../../api/faults.ts';
import { type Route, route } from '../../../api/route.ts';
import { TrafficFlowFigures, TrafficStart } from '../../../schema/traffic.ts';
import type { Controller } from '../../controller.ts';

const node = '/v2/projects/{project_id}/nodes/{node_id}/traffic' as const;

export function trafficRoutes({ projects }: Controller): Route[] {
  const nodesOf = async (path: { project_id: string }) => (await projects.get(path.project_id).live()).nodes;
  return [
    route(
      `POST ${node}`,
      {
        right: 'Node.Modify',
        summary: 'Send traffic from a station at an Ethernet switch to one at another',
        body: TrafficStart,
        status: 201,
        reply: TrafficFlowFigures,
        own: true,
      },
      async ({ path, body }) => {
        const nodes = await nodesOf(path);
        const [from, to] = [nodes.get(path.node_id), nodes.get(body.sink.node_id)];
        if (from.entry.compute_id !== to.entry.compute_id) {
          throw fault('traffic_two_computes', { source: from.entry.name, sink: to.entry.name });
        }
        return from.transport.call(`POST ${from.route}/traffic`, { ...from.request, body });
      },
    ),
    route(
      `GET ${node}/{traffic_id}`,
      { right: 'Node.Audit', summary: 'What became of traffic so far', reply: TrafficFlowFigures, own: true },
      async ({ path: { traffic_id, ...path } }) => {
        const { transport, route: key, request } = (await nodesOf(path)).get(path.node_id);
        return transport.call(`GET ${key}/traffic/{traffic_id}`, { path: { ...request.path, traffic_id } });
      },
    ),
    route(
      `DELETE ${node}/{traffic_id}`,
      { right: 'Node.Modify', summary: 'End traffic', status: 204, own: true },
      async ({ path: { traffic_id, ...path } }) => {
        const { transport, route: key, request } = (await nodesOf(path)).get(path.node_id);
        await transport.send(`DELETE ${key}/traffic/{traffic_id}`, { path: { ...request.path, traffic_id } });
      },
    ),
  ];
}
