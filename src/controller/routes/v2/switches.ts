/** Routes of switches only: the node's compute answers them, and nodes of other kinds have no such route. */
import { type Route, route } from '../../../api/route.ts';
import { MacEntry, SwitchPortStats } from '../../../schema/switch.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';
import type { OpenNode } from '../../live/nodes/open-node.ts';

export function switchRoutes({ projects }: Controller): Route[] {
  const nodeOf = async (path: { project_id: string; node_id: string }): Promise<OpenNode> =>
    (await projects.get(path.project_id).live()).nodes.get(path.node_id);
  return [
    route(
      'GET /v2/projects/{project_id}/nodes/{node_id}/mac_table',
      {
        right: 'Node.Audit',
        summary: 'MAC addresses that an Ethernet switch has learned, the latest first',
        reply: Type.Array(MacEntry),
        own: true,
      },
      async ({ path }) => {
        const { transport, route: key, request } = await nodeOf(path);
        return transport.call(`GET ${key}/mac_table`, request);
      },
    ),
    route(
      'DELETE /v2/projects/{project_id}/nodes/{node_id}/mac_table',
      { right: 'Node.Modify', summary: 'Have an Ethernet switch forget all MAC addresses', status: 204, own: true },
      async ({ path }) => {
        const { transport, route: key, request } = await nodeOf(path);
        await transport.send(`DELETE ${key}/mac_table`, request);
      },
    ),
    route(
      'GET /v2/projects/{project_id}/nodes/{node_id}/port_stats',
      {
        right: 'Node.Audit',
        summary: 'What the joined ports of a switch or hub have received, sent and lost',
        reply: Type.Array(SwitchPortStats),
        own: true,
      },
      async ({ path }) => {
        const { transport, route: key, request } = await nodeOf(path);
        return transport.call(`GET ${key}/port_stats`, request);
      },
    ),
  ];
}
