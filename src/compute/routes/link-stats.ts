import { computeRoute } from '../../api/route.ts';
import { strict, Uuid } from '../../schema/common.ts';
import { PortStats } from '../../schema/link-stats.ts';
import { Type } from '../../schema/type.ts';
import { portStats } from '../links/port-stats.ts';
import type { ComputeRouteContext } from './route-context.ts';

const Which = Type.Object(
  { node_ids: Type.Optional(Type.Array(Uuid, { description: 'Ports of these nodes only; default all' })) },
  strict,
);

export function linkStatsRoutes({ context, projects, fabric }: ComputeRouteContext) {
  return [
    computeRoute(
      'GET /v2/compute/projects/{project_id}/link_stats',
      {
        summary: 'Counters of the links on the ports of nodes, as far as they carry frames now',
        reply: Type.Array(PortStats),
        body: Which,
        own: true,
      },
      ({ path, body }) => {
        const { nodes } = projects.get(path.project_id);
        const nodeIds = body.node_ids?.filter((id) => nodes.has(id)) ?? [...nodes.keys()];
        return portStats(context.wiring, nodeIds, (ids) => fabric.stats(ids));
      },
    ),
  ];
}
