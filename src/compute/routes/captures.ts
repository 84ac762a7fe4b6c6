/** Captures on the ports of nodes, of every kind that can be made here. */
import { isOwnAgent } from '../../api/own-agent.ts';
import { route } from '../../api/route.ts';
import type { Kind } from '../../emulators/kind.ts';
import { CaptureEntry, CaptureStart, CaptureStarted, CaptureStartWithId } from '../../schema/capture.ts';
import { Type } from '../../schema/type.ts';
import { streamCapture } from '../captures/capture-stream.ts';
import type { ComputeNode } from '../nodes/node.ts';
import type { ComputeRouteContext } from './route-context.ts';

export function captureRoutes(parts: ComputeRouteContext) {
  const { projects, context } = parts;
  return [
    route(
      'GET /v2/compute/projects/{project_id}/captures',
      { summary: 'List the captures on nodes of a project', reply: Type.Array(CaptureEntry), own: true },
      ({ path }) => [...projects.get(path.project_id).nodes.values()].flatMap((node) => node.captures.list()),
    ),
    ...[...context.drivers.values()].flatMap((driver) => portRoutes(parts, driver.kind)),
  ];
}

function portRoutes({ projects }: ComputeRouteContext, { type }: Kind) {
  const place =
    `/v2/compute/projects/{project_id}/${type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}` as const;
  const nodeOf = (path: { project_id: string; node_id: string }): ComputeNode => projects.node(path.project_id, type, path.node_id);
  const at = (path: { adapter_number: string; port_number: string }) => ({
    adapter: Number(path.adapter_number),
    port: Number(path.port_number),
  });
  return [
    route(
      `POST ${place}/start_capture`,
      {
        fillsDisk: true,
        summary: 'Write the frames of a port to a pcap file of the project',
        reply: CaptureStarted,
        body: CaptureStart,
      },
      async ({ path, body, userAgent }) => {
        const node = nodeOf(path);
        // GNS3 answers where the file is; our controller keeps the name that it asked for.
        const mayRename = !isOwnAgent(userAgent);
        const { pcap_file_path } = await node.exclusively(() => node.captures.start(at(path), { ...body, mayRename }));
        return { pcap_file_path };
      },
    ),
    route(`POST ${place}/stop_capture`, { summary: 'End the capture of a port', status: 204 }, ({ path }) => {
      const node = nodeOf(path);
      return node.exclusively(() => node.captures.stop(at(path)));
    }),
    route(
      `GET ${place}/pcap`,
      { summary: 'The capture of a port as a stream, to its end', replyType: 'application/vnd.tcpdump.pcap' },
      ({ path }) => streamCapture(nodeOf(path).captures.source(at(path))),
    ),
    route(
      `POST ${place}/captures`,
      {
        fillsDisk: true,
        summary: 'Start one more capture of a port',
        body: CaptureStartWithId,
        status: 201,
        reply: CaptureEntry,
        own: true,
      },
      ({ path, body }) => {
        const node = nodeOf(path);
        return node.exclusively(() => node.captures.start(at(path), body));
      },
    ),
    route(`DELETE ${place}/captures/{capture_id}`, { summary: 'End a capture of a port', status: 204, own: true }, ({ path }) => {
      const node = nodeOf(path);
      return node.exclusively(() => node.captures.stop(at(path), path.capture_id));
    }),
    route(
      `GET ${place}/captures/{capture_id}/pcap`,
      {
        summary: 'A capture of a port as a stream, to its end',
        replyType: 'application/vnd.tcpdump.pcap',
        own: true,
      },
      ({ path }) => streamCapture(nodeOf(path).captures.source(at(path), path.capture_id)),
    ),
  ];
}
