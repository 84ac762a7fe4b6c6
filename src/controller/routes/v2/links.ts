import { scheduleOf } from '../../../api/filters.ts';
import { type Call, type Route, route } from '../../../api/route.ts';
import { mapInTurns } from '../../../lib/turns.ts';
import { LinkCapture, LinkCaptureStart } from '../../../schema/capture.ts';
import { FilterFacts } from '../../../schema/filter-table.ts';
import { Link, type LinkEnd, LinkEnds, LinkInput, LinkMirror, LinkPatch, MirrorOfLink } from '../../../schema/link.ts';
import { LinkStats } from '../../../schema/link-stats.ts';
import { LinkSchedule, LinkScheduleInput, ScheduleOfLink } from '../../../schema/schedule.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';
import { desktopLink, desktopOffers } from '../../live/links/filter-forms.ts';
import { availableFilters, type LinkObject, listed, noCapture } from '../../live/links/link.ts';
import { rewireLink } from '../../live/rewire-link.ts';
import type { ProjectState } from '../../log/project-state.ts';
import { portsOf } from '../../model/node.ts';
import { type LinkEntry, withoutExtras } from '../../model/topology.ts';
import type { KnownProject } from '../../projects/project.ts';

type ProjectOf = (path: { readonly project_id: string }) => KnownProject;
/** Returns the link in the form that the requester's dialog of filters can show. */
type ShownLink = (call: Pick<Call, 'userAgent' | 'client'>, link: LinkObject) => LinkObject;

export function linkRoutes(controller: Controller): Route[] {
  const { projects, desktops } = controller;
  const project: ProjectOf = (path) => projects.get(path.project_id);
  const shown: ShownLink = (call, link) => (desktops.has(call) ? desktopLink(link) : link);
  return [
    route(
      'GET /v2/projects/{project_id}/links',
      { right: 'Link.Audit', summary: 'List the links', reply: Type.Array(Link) },
      async (call) => {
        const known = project(call.path);
        const live = await known.findLive();
        const links = live ? live.links.list() : await closedLinks(await known.stored());
        return desktops.has(call) ? links.map(desktopLink) : links;
      },
    ),
    route(
      'POST /v2/projects/{project_id}/links',
      { right: 'Link.Allocate', summary: 'Join two ports of two nodes', body: LinkInput, status: 201, reply: Link },
      async ({ path, body, ...call }) => shown(call, await project(path).change((live) => live.linkOperations.create(body))),
    ),
    route(
      'GET /v2/projects/{project_id}/links/{link_id}',
      { right: 'Link.Audit', summary: 'Get a link', reply: Link },
      async ({ path, ...call }) => {
        const live = await project(path).live();
        return shown(call, live.links.get(path.link_id));
      },
    ),
    route(
      'PUT /v2/projects/{project_id}/links/{link_id}',
      {
        right: 'Link.Modify',
        summary: 'Change filters, suspension, style and labels of a link',
        body: LinkInput,
        status: 201,
        reply: Link,
      },
      async ({ path, body, ...call }) => {
        const isDesktop = desktops.has(call);
        return shown(call, await project(path).change((live) => live.linkOperations.update(path.link_id, body, isDesktop)));
      },
    ),
    route(
      'DELETE /v2/projects/{project_id}/links/{link_id}',
      { right: 'Link.Allocate', summary: 'Delete a link', status: 204 },
      ({ path }) => project(path).change((live) => live.linkOperations.delete(path.link_id)),
    ),
    ...furtherLinkRoutes(controller),
  ];
}

function furtherLinkRoutes({ projects, desktops }: Controller): Route[] {
  const project: ProjectOf = (path) => projects.get(path.project_id);
  const shown: ShownLink = (call, link) => (desktops.has(call) ? desktopLink(link) : link);
  return [
    route(
      'PATCH /v2/projects/{project_id}/links/{link_id}',
      {
        right: 'Link.Modify',
        summary: 'Change single filters, and other fields, of a link: a JSON merge patch',
        body: LinkPatch,
        reply: Link,
        own: true,
      },
      ({ path, body }) => project(path).change((live) => live.linkOperations.patch(path.link_id, body)),
    ),
    route(
      'GET /v2/projects/{project_id}/links/{link_id}/available_filters',
      { right: 'Link.Audit', summary: 'Filters that the link can have, with their parameters', reply: Type.Array(FilterFacts) },
      async ({ path, ...call }) => {
        const live = await project(path).live();
        const offers = availableFilters(live.links.open(path.link_id));
        return desktops.has(call) ? desktopOffers(offers) : offers;
      },
    ),
    route(
      'PUT /v2/projects/{project_id}/links/{link_id}/ends',
      {
        right: 'Link.Modify',
        summary: 'Connect a link to other ports; everything else of it stays',
        body: LinkEnds,
        reply: Link,
        own: true,
      },
      ({ path, body }) => project(path).changeAlone((live) => rewireLink(live, path.link_id, body.nodes)),
    ),
    route(
      'POST /v2/projects/{project_id}/links/{link_id}/reconnect',
      {
        right: 'Link.Modify',
        summary: 'Try again to make a link that could not be made on its computes',
        reply: Link,
        own: true,
      },
      ({ path, ...call }) => project(path).change(async (live) => shown(call, await live.linkRecovery.reconnect(path.link_id))),
    ),
    ...firstCaptureRoutes(project, shown),
    ...captureRoutes(project),
    ...statsRoutes(project),
    ...scheduleRoutes(project),
    ...mirrorRoutes(project),
  ];
}

function scheduleRoutes(project: ProjectOf): Route[] {
  return [
    route(
      'GET /v2/projects/{project_id}/link_schedules',
      { right: 'Link.Audit', summary: 'The schedules of all links that have one', reply: Type.Array(ScheduleOfLink), own: true },
      async ({ path }) => (await project(path).live()).linkOperations.schedules(),
    ),
    route(
      'GET /v2/projects/{project_id}/links/{link_id}/schedule',
      { right: 'Link.Audit', summary: 'The schedule of a link: its steps and traces', reply: LinkSchedule, own: true },
      async ({ path }) => {
        const live = await project(path).live();
        return live.linkOperations.scheduleOf(path.link_id);
      },
    ),
    route(
      'PUT /v2/projects/{project_id}/links/{link_id}/schedule',
      {
        right: 'Link.Modify',
        summary: 'Run a timeline of impairments on a link, in place of the one it has',
        body: LinkScheduleInput,
        reply: LinkSchedule,
        own: true,
      },
      ({ path, body }) =>
        project(path).change(async (live) => {
          await live.linkOperations.update(path.link_id, { schedule: scheduleOf(body) });
          return live.linkOperations.scheduleOf(path.link_id);
        }),
    ),
    route(
      'DELETE /v2/projects/{project_id}/links/{link_id}/schedule',
      { right: 'Link.Modify', summary: 'Remove the schedule of a link: its own filters act again', status: 204, own: true },
      ({ path }) =>
        project(path).change(async (live) => {
          await live.linkOperations.update(path.link_id, { schedule: null });
        }),
    ),
  ];
}

function mirrorRoutes(project: ProjectOf): Route[] {
  return [
    route(
      'GET /v2/projects/{project_id}/mirrors',
      { right: 'Link.Audit', summary: 'The mirrors of all links of a project', reply: Type.Array(MirrorOfLink), own: true },
      async ({ path }) => {
        const live = await project(path).live();
        return live.linkOperations.mirrors();
      },
    ),
    route(
      'GET /v2/projects/{project_id}/links/{link_id}/mirror',
      { right: 'Link.Audit', summary: 'The port that is sent the frames of a link as well', reply: LinkMirror, own: true },
      async ({ path }) => {
        const live = await project(path).live();
        return live.linkOperations.mirrorOf(path.link_id);
      },
    ),
    route(
      'PUT /v2/projects/{project_id}/links/{link_id}/mirror',
      {
        right: 'Link.Capture',
        summary: 'Send the frames of a link to a free port of another node as well (SPAN)',
        body: LinkMirror,
        reply: LinkMirror,
        own: true,
      },
      ({ path, body }) =>
        project(path).change(async (live) => {
          await live.linkOperations.setMirror(path.link_id, body);
          return live.linkOperations.mirrorOf(path.link_id);
        }),
    ),
    route(
      'DELETE /v2/projects/{project_id}/links/{link_id}/mirror',
      { right: 'Link.Capture', summary: 'Send the frames of a link to no further port', status: 204, own: true },
      ({ path }) =>
        project(path).change(async (live) => {
          await live.linkOperations.setMirror(path.link_id, null);
        }),
    ),
  ];
}

/** The capture of a link that GNS3's API knows. */
function firstCaptureRoutes(project: ProjectOf, shown: ShownLink): Route[] {
  return [
    route(
      'POST /v2/projects/{project_id}/links/{link_id}/start_capture',
      {
        right: 'Link.Capture /projects/{project_id}/links/{link_id}/capture/start',
        fillsDisk: true,
        summary: 'Write the frames of a link to a pcap file of the project',
        body: LinkCaptureStart,
        status: 201,
        reply: Link,
      },
      ({ path, body, ...call }) =>
        project(path).change(async (live) => {
          await live.captures.start(path.link_id, body);
          return shown(call, live.links.get(path.link_id));
        }),
    ),
    route(
      'POST /v2/projects/{project_id}/links/{link_id}/stop_capture',
      {
        right: 'Link.Capture /projects/{project_id}/links/{link_id}/capture/stop',
        summary: 'End the capture of a link',
        status: 201,
        reply: Link,
      },
      ({ path, ...call }) =>
        project(path).change(async (live) => {
          await live.captures.stop(path.link_id);
          return shown(call, live.links.get(path.link_id));
        }),
    ),
    route(
      'GET /v2/projects/{project_id}/links/{link_id}/pcap',
      {
        right: 'Link.Capture /projects/{project_id}/links/{link_id}/capture/stream',
        summary: 'The capture of a link as a stream, to its end',
        replyType: 'application/vnd.tcpdump.pcap',
      },
      async ({ path }) => {
        const live = await project(path).live();
        return live.captures.stream(path.link_id);
      },
    ),
  ];
}

function statsRoutes(project: ProjectOf): Route[] {
  return [
    route(
      'GET /v2/projects/{project_id}/links/{link_id}/stats',
      { right: 'Link.Audit', summary: 'What a link carries, loses and holds back, each way', reply: LinkStats, own: true },
      async ({ path }) => {
        const live = await project(path).live();
        return live.linkStats.get(path.link_id);
      },
    ),
    route(
      'GET /v2/projects/{project_id}/link_stats',
      { right: 'Link.Audit', summary: 'The same of all links', reply: Type.Array(LinkStats), own: true },
      async ({ path }) => {
        const live = await project(path).live();
        return live.linkStats.list();
      },
    ),
  ];
}

/** The captures of a link that GNS3's API does not know. */
function captureRoutes(project: ProjectOf): Route[] {
  return [
    route(
      'GET /v2/projects/{project_id}/links/{link_id}/captures',
      {
        right: 'Link.Audit',
        summary: 'List the captures of a link that were started with an id',
        reply: Type.Array(LinkCapture),
        own: true,
      },
      async ({ path }) => {
        const live = await project(path).live();
        return live.captures.list(path.link_id);
      },
    ),
    route(
      'POST /v2/projects/{project_id}/links/{link_id}/captures',
      {
        right: 'Link.Capture',
        fillsDisk: true,
        summary: 'Start one more capture of a link',
        body: LinkCaptureStart,
        status: 201,
        reply: LinkCapture,
        own: true,
      },
      ({ path, body }) => project(path).change((live) => live.captures.start(path.link_id, body, crypto.randomUUID())),
    ),
    route(
      'DELETE /v2/projects/{project_id}/links/{link_id}/captures/{capture_id}',
      { right: 'Link.Capture', summary: 'End a capture of a link', status: 204, own: true },
      ({ path }) => project(path).change((live) => live.captures.stop(path.link_id, path.capture_id)),
    ),
    route(
      'GET /v2/projects/{project_id}/links/{link_id}/captures/{capture_id}/pcap',
      {
        right: 'Link.Capture',
        summary: 'A capture of a link as a stream, to its end',
        replyType: 'application/vnd.tcpdump.pcap',
        own: true,
      },
      async ({ path }) => {
        const live = await project(path).live();
        return live.captures.stream(path.link_id, path.capture_id);
      },
    ),
  ];
}

/** The links of a closed project, whole as the API promises them: nothing captures, and what joins two ports follows from the stored nodes. */
function closedLinks(state: ProjectState): Promise<LinkObject[]> {
  const linkType = linkTypes(state);
  return mapInTurns(state.links.values(), (entry) =>
    listed({
      ...withoutExtras(entry),
      ...noCapture,
      link_type: linkType(entry),
      nodes: entry.nodes as LinkEnd[],
      project_id: state.project.project_id,
    }),
  );
}

/** Tells the type of a link; the ports of a node are worked out once. */
function linkTypes(state: ProjectState): (entry: LinkEntry) => LinkObject['link_type'] {
  const known = new Map<string, Map<string, LinkObject['link_type']>>();
  const typesOn = (nodeId: string) => {
    const node = state.nodes.get(nodeId);
    const types = known.get(nodeId) ?? new Map((node ? portsOf(node) : []).map((port) => [keyOf(port), port.link_type]));
    known.set(nodeId, types);
    return types;
  };
  return ({ nodes: [end] }) => (end && typesOn(end.node_id).get(keyOf(end))) ?? 'ethernet';
}

function keyOf({ adapter_number, port_number }: { adapter_number: number; port_number: number }): string {
  return `${adapter_number}/${port_number}`;
}
