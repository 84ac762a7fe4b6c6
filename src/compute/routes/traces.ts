/** Traces of frames at the ports of nodes. They are in the fabric's memory: nothing of them is stored. */
import { fault } from '../../api/faults.ts';
import { computeRoute } from '../../api/route.ts';
import { mostTraces } from '../../fabric/protocol.ts';
import { mapInTurns } from '../../lib/turns.ts';
import { FrameTraceStart, TracedFrameEntry } from '../../schema/frame-trace.ts';
import { Type } from '../../schema/type.ts';
import type { ComputeRouteContext } from './route-context.ts';

const traces = '/v2/compute/projects/{project_id}/traces' as const;
const idOf = ({ project_id, trace_id }: { project_id: string; trace_id: string }) => `${project_id}/${trace_id}`;

export function traceRoutes({ context, projects, fabric }: ComputeRouteContext) {
  return [
    computeRoute(
      `POST ${traces}`,
      {
        summary: 'Note for a short time when frames of ARP and ICMP pass ports; answers the links that are traced',
        body: FrameTraceStart,
        status: 201,
        reply: Type.Array(Type.String()),
        own: true,
      },
      async ({ path, body: { trace_id, lease_ms, marks, ports } }) => {
        const { nodes } = projects.get(path.project_id);
        const found = ports.flatMap(({ link_id, node_id, adapter_number: adapter, port_number: port }) => {
          const place = nodes.has(node_id) ? context.wiring.placeOf({ nodeId: node_id, adapter, port }) : undefined;
          return place ? [{ ...place, name: `${link_id}/${node_id}` }] : [];
        });
        const places = found.flatMap(({ linkId: link, side, name }) => [
          { link, direction: side === 'a' ? ('ab' as const) : ('ba' as const), label: `${name}/from` },
          { link, direction: side === 'a' ? ('ba' as const) : ('ab' as const), label: `${name}/to` },
        ]);
        const id = idOf({ ...path, trace_id });
        if (!(await fabric.traces.start({ id, leaseMs: lease_ms, marks, places })))
          throw fault('trace_too_many', { most: mostTraces });
        return found.map(({ name }) => name.slice(0, name.indexOf('/')));
      },
    ),
    computeRoute(
      `GET ${traces}/{trace_id}`,
      { summary: 'The frames that a trace has noted, in the order of time', reply: Type.Array(TracedFrameEntry), own: true },
      async ({ path }) => {
        projects.get(path.project_id);
        const frames = await fabric.traces.read(idOf(path));
        if (!frames) throw fault('trace_not_found', { trace_id: path.trace_id });
        return mapInTurns(frames, ({ label, point, atMs, bytes }) => {
          const [link_id = '', node_id = '', way] = label.split('/');
          return { link_id, node_id, from_node: way === 'from', point, at_ms: atMs, frame: bytes };
        });
      },
    ),
    computeRoute(`DELETE ${traces}/{trace_id}`, { summary: 'End a trace', status: 204, own: true }, async ({ path }) => {
      projects.get(path.project_id);
      if (!(await fabric.traces.end(idOf(path)))) throw fault('trace_not_found', { trace_id: path.trace_id });
    }),
  ];
}
