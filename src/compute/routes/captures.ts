/** Captures on the ports of nodes, of every kind that can be made here. */
import { isOwnAgent } from '../../api/own-agent.ts';
import { computeRoute } from '../../api/route.ts';
import type { Kind } from '../../emulators/kind.ts';
import { CaptureEntry, CaptureStart, CaptureStarted, CaptureStartWithId } from '../../schema/capture.ts';
import { Type } from '../../schema/type.ts';
import { streamCapture } from '../captures/capture-stream.ts';
import type { NodeCaptures } from '../nodes/node-captures.ts';
import type { ComputeRouteContext } from './route-context.ts';

export function captureRoutes(parts: ComputeRouteContext) {
  const { projects, context } = parts;
  return [
    computeRoute(
      'GET /v2/compute/projects/{project_id}/captures',
      { summary: 'List the captures on nodes of a project', reply: Type.Array(CaptureEntry), own: true },
      ({ path }) => [...projects.get(path.project_id).nodes.values()].flatMap((node) => node.captures.list()),
    ),
    ...[...context.drivers.values()].flatMap((driver) => portRoutes(parts, driver.kind)),
  ];
}

interface PortPath {
  readonly project_id: string;
  readonly node_id: string;
  readonly adapter_number: string;
  readonly port_number: string;
}

const at = ({ adapter_number, port_number }: PortPath) => ({ adapter: Number(adapter_number), port: Number(port_number) });

function portRoutes({ projects }: ComputeRouteContext, { type }: Kind) {
  const place =
    `/v2/compute/projects/{project_id}/${type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}` as const;
  const capturesOf = (path: PortPath) => projects.node(path.project_id, type, path.node_id).captures;
  const change = <T>(path: PortPath, act: (captures: NodeCaptures) => Promise<T>) => {
    const node = projects.node(path.project_id, type, path.node_id);
    return node.exclusively(() => act(node.captures));
  };
  return [
    computeRoute(
      `POST ${place}/start_capture`,
      {
        fillsDisk: true,
        summary: 'Write the frames of a port to a pcap file of the project',
        reply: CaptureStarted,
        body: CaptureStart,
      },
      async ({ path, body, userAgent }) => {
        // GNS3 answers where the file is; our controller keeps the name that it asked for.
        const mayRename = !isOwnAgent(userAgent);
        const { pcap_file_path } = await change(path, (captures) => captures.start(at(path), { ...body, mayRename }));
        return { pcap_file_path };
      },
    ),
    computeRoute(`POST ${place}/stop_capture`, { summary: 'End the capture of a port', status: 204 }, ({ path }) =>
      change(path, (captures) => captures.stop(at(path))),
    ),
    computeRoute(
      `GET ${place}/pcap`,
      { summary: 'The capture of a port as a stream, to its end', replyType: 'application/vnd.tcpdump.pcap' },
      ({ path }) => streamCapture(capturesOf(path).source(at(path))),
    ),
    computeRoute(
      `POST ${place}/captures`,
      {
        fillsDisk: true,
        summary: 'Start one more capture of a port',
        body: CaptureStartWithId,
        status: 201,
        reply: CaptureEntry,
        own: true,
      },
      ({ path, body }) => change(path, (captures) => captures.start(at(path), body)),
    ),
    computeRoute(
      `DELETE ${place}/captures/{capture_id}`,
      { summary: 'End a capture of a port', status: 204, own: true },
      ({ path }) => change(path, (captures) => captures.stop(at(path), path.capture_id)),
    ),
    computeRoute(
      `GET ${place}/captures/{capture_id}/pcap`,
      {
        summary: 'A capture of a port as a stream, to its end',
        replyType: 'application/vnd.tcpdump.pcap',
        own: true,
      },
      ({ path }) => streamCapture(capturesOf(path).source(at(path), path.capture_id)),
    ),
  ];
}
