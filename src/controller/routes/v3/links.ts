import { fault } from '../../../api/faults.ts';
import { type Call, type Route, route, Stream } from '../../../api/route.ts';
import { named, nullable, Uuid } from '../../../schema/common.ts';
import { findFilter } from '../../../schema/filter.ts';
import { Link, LinkEnd, LinkInput } from '../../../schema/link.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';
import type { LinkObject } from '../../live/links/link.ts';
import type { LiveProject } from '../../live/live-project.ts';
import { readCaptureFile } from '../../projects/capture-files.ts';
import { type DeclareTwin, sameTwins } from './twins.ts';

const whole = Type.Optional(nullable(Type.Integer()));
const word = Type.Optional(nullable(Type.String()));
/** The last four keys are those of GNS3 3.1. */
const LinkStyle = Type.Object(
  {
    color: word,
    width: whole,
    type: whole,
    link_type: word,
    bezier_curviness: whole,
    flowchart_roundness: whole,
    control_offset: Type.Optional(nullable(Type.Array(Type.Unknown(), { minItems: 2, maxItems: 2 }))),
  },
  named('LinkStyle'),
);
const LinkUpdate = Type.Object({ ...LinkInput.properties, link_style: Type.Optional(LinkStyle) }, named('LinkUpdateOfV3'));
/** A link that is made has exactly two ends. */
const LinkCreate = Type.Object(
  { ...LinkUpdate.properties, nodes: Type.Array(LinkEnd, { minItems: 2, maxItems: 2 }) },
  named('LinkCreate'),
);

export function linkRoutes(controller: Controller, twin: DeclareTwin): Route[] {
  const link = '/v2/projects/{project_id}/links/{link_id}' as const;
  return [
    ...sameTwins(twin, [
      'GET /v3/projects/{project_id}/links',
      'GET /v3/projects/{project_id}/links/{link_id}',
      'DELETE /v3/projects/{project_id}/links/{link_id}',
      'GET /v3/projects/{project_id}/links/{link_id}/available_filters',
    ]),
    twin('POST /v3/projects/{project_id}/links', 'POST /v2/projects/{project_id}/links', {
      body: LinkCreate,
      request: (call) => {
        requirePorts(controller, call);
        return withKnownFilters(call);
      },
    }),
    twin('PUT /v3/projects/{project_id}/links/{link_id}', `PUT ${link}`, {
      status: 200,
      body: LinkUpdate,
      request: withKnownFilters,
    }),
    twin('POST /v3/projects/{project_id}/links/{link_id}/capture/start', `POST ${link}/start_capture`),
    twin('POST /v3/projects/{project_id}/links/{link_id}/capture/stop', `POST ${link}/stop_capture`, { status: 204 }),
    twin('GET /v3/projects/{project_id}/links/{link_id}/capture/stream', `GET ${link}/pcap`),
    captureFileRoute(controller),
    resetRoute(controller),
    uplinkRoute(controller),
  ];
}

/** Checks the ports before anything else, also those of a link between two ports of one node. @throws port_not_found */
function requirePorts({ projects }: Controller, { path, body }: Call): void {
  const live = projects.find((path as { project_id: string }).project_id)?.liveNow;
  for (const { node_id, adapter_number, port_number } of (body as { readonly nodes: readonly LinkEnd[] }).nodes) {
    const node = live?.nodes.find(node_id);
    if (node && !node.findPort(adapter_number, port_number))
      throw fault('port_not_found', { adapter_number, port_number, name: node.entry.name });
  }
}

/** Drops filters that are not known, as other keys. */
function withKnownFilters(call: Call): Call {
  const { filters, ...body } = call.body as { readonly filters?: object };
  if (filters === undefined) return call;
  const known = Object.entries(filters).filter(([name]) => findFilter(name) !== undefined);
  return { ...call, body: { ...body, filters: Object.fromEntries(known) } };
}

function captureFileRoute({ projects }: Controller): Route {
  return route(
    'GET /v3/projects/{project_id}/links/{link_id}/capture/file',
    { summary: 'The capture file of a link', replyType: 'application/vnd.tcpdump.pcap', right: 'Link.Capture' },
    async ({ path }) => {
      const live = await projects.get(path.project_id).live();
      const { link_id, capture_file_name } = live.links.get(path.link_id);
      if (!capture_file_name) throw fault('capture_link_missing', { link_id });
      const { contentType: _, source, headers } = await readCaptureFile(live, capture_file_name);
      return new Stream('application/vnd.tcpdump.pcap', source, {
        ...headers,
        'content-disposition': `attachment; filename="${capture_file_name.replace(/[^\x20-\x7e]|["\\]/g, '_')}"`,
      });
    },
  );
}

function resetRoute({ projects }: Controller): Route {
  return route(
    'POST /v3/projects/{project_id}/links/{link_id}/reset',
    { summary: 'Take a link down and up again; a suspended one stays down', reply: Link, right: 'Link.Modify' },
    ({ path }) =>
      projects.get(path.project_id).change(async (live) => {
        const link = live.links.get(path.link_id);
        if (link.suspend) return link;
        await live.linkOperations.update(path.link_id, { suspend: true });
        return live.linkOperations.update(path.link_id, { suspend: false });
      }),
  );
}

function uplinkRoute({ projects }: Controller): Route {
  return route(
    'GET /v3/projects/{project_id}/links/{link_id}/iface',
    {
      summary: 'The interface of the host, or the UDP tunnel, at the end of a link to a cloud or NAT node',
      reply: LinkUplink,
      right: 'Link.Audit',
    },
    async ({ path }) => {
      const live = await projects.get(path.project_id).live();
      return uplinkOf(live, live.links.get(path.link_id));
    },
  );
}

const LinkUplink = Type.Object(
  {
    node_id: Uuid,
    type: Type.String(),
    interface: Type.Optional(Type.String()),
    lport: Type.Optional(Type.Integer()),
    rhost: Type.Optional(Type.String()),
    rport: Type.Optional(Type.Integer()),
  },
  named('LinkUplink'),
);

interface UplinkMapping {
  readonly port_number?: number;
  readonly type?: string;
  readonly interface?: string;
  readonly lport?: number;
  readonly rhost?: string;
  readonly rport?: number;
}

/** @throws link_no_uplink */
function uplinkOf({ nodes }: LiveProject, { link_id, nodes: ends }: LinkObject): object {
  for (const { node_id, port_number } of ends) {
    const { node_type, properties } = nodes.get(node_id).object;
    if (node_type !== 'cloud' && node_type !== 'nat') continue;
    const mappings = (properties.ports_mapping ?? []) as readonly UplinkMapping[];
    const port = mappings.find((one) => one.port_number === port_number);
    if (port?.type === 'udp') return { node_id, type: 'udp', lport: port.lport, rhost: port.rhost, rport: port.rport };
    if (port) return { node_id, type: port.type, interface: port.interface };
  }
  throw fault('link_no_uplink', { link_id });
}
