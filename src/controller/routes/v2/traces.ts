/** The trace of a packet: it is sent, or waited for, while the request runs. */
import { type Route, route } from '../../../api/route.ts';
import { PacketTrace, PacketTraceStart } from '../../../schema/frame-trace.ts';
import type { Controller } from '../../controller.ts';
import { tracePacket } from '../../live/links/packet-tracer.ts';

export function traceRoutes({ projects }: Controller): Route[] {
  return [
    route(
      'POST /v2/projects/{project_id}/trace',
      {
        right: ['Node.Console', 'Link.Capture'],
        summary: 'Follow a packet from one node to another, link by link, and its answer',
        body: PacketTraceStart,
        reply: PacketTrace,
        own: true,
      },
      async ({ path, body, signal }) => tracePacket(await projects.get(path.project_id).live(), body, signal),
    ),
  ];
}
