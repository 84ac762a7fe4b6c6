import { type Route, type RouteKey, route, socketRoute } from '../../../api/route.ts';
import { IdlePc, IdlePcProposals } from '../../../schema/idle-pc.ts';
import { DisksToConvert } from '../../../schema/image-use.ts';
import { Link } from '../../../schema/link.ts';
import { NodeMigrate, NodeMigration } from '../../../schema/move.ts';
import { Node, NodeDuplicate, NodeRequest, NodeUpdate } from '../../../schema/node.ts';
import { NodeProbe, NodeProbeAnswer } from '../../../schema/pc-probe.ts';
import { Type } from '../../../schema/type.ts';
import { anyCompute } from '../../computes/computes.ts';
import { withConvertedDisks } from '../../computes/convert-disks.ts';
import type { Controller } from '../../controller.ts';
import { lenienceOf } from '../../live/nodes/missing-images.ts';
import type { NodeVerb } from '../../live/nodes/node-verbs.ts';
import type { OpenNode } from '../../live/nodes/open-node.ts';
import { convertedNode } from '../../model/converted-machine.ts';
import { checkRequested } from '../../model/requested-properties.ts';
import { actOnAll, actOnOne, resetAllConsoles } from '../../projects/node-batch.ts';
import { withWarnings } from './unmet-wishes.ts';

const actions: readonly { action: NodeVerb; summary: string }[] = [
  { action: 'start', summary: 'Start' },
  { action: 'stop', summary: 'Stop' },
  { action: 'suspend', summary: 'Suspend' },
  { action: 'reload', summary: 'Reset' },
];

export function nodeRoutes(controller: Controller): Route[] {
  const { projects } = controller;
  const project = (path: { project_id: string }) => projects.get(path.project_id);
  return [
    route(
      'GET /v2/projects/{project_id}/nodes',
      { right: 'Node.Audit', summary: 'List the nodes; of a closed project as they are stored', reply: Type.Array(Node) },
      async ({ path }) => {
        const live = await project(path).findLive();
        return live ? live.nodes.list() : [...(await project(path).stored()).nodes.values()];
      },
    ),
    creationRoute(controller),
    route(
      'GET /v2/projects/{project_id}/nodes/{node_id}',
      { right: 'Node.Audit', summary: 'Get a node', reply: Node },
      async ({ path }) => {
        const live = await project(path).live();
        return live.nodes.get(path.node_id).object;
      },
    ),
    route(
      'PUT /v2/projects/{project_id}/nodes/{node_id}',
      { right: 'Node.Modify', summary: 'Change a node; properties that are not given stay', body: NodeUpdate, reply: Node },
      ({ path, body }) => project(path).change((live) => withWarnings(live, body, live.nodes.update(path.node_id, body))),
    ),
    route(
      'DELETE /v2/projects/{project_id}/nodes/{node_id}',
      { right: 'Node.Allocate', summary: 'Delete a node, its links and its files', status: 204 },
      ({ path }) => project(path).change((live) => live.nodes.delete(path.node_id)),
    ),
    route(
      'GET /v2/projects/{project_id}/nodes/{node_id}/links',
      { right: 'Link.Audit', summary: 'List the links of a node', reply: Type.Array(Link) },
      async ({ path }) => {
        const live = await project(path).live();
        live.nodes.get(path.node_id);
        return live.links.listOn(path.node_id);
      },
    ),
    migrateRoute(controller),
    ...otherRoutes(controller),
    ...computeRoutes(controller),
    ...actions.flatMap(({ action, summary }) => {
      const one = `POST /v2/projects/{project_id}/nodes/{node_id}/${action}` as const satisfies RouteKey;
      const all = `POST /v2/projects/{project_id}/nodes/${action}` as const satisfies RouteKey;
      return [
        route(
          one,
          { right: 'Node.PowerMgmt', summary: `${summary} a node; the answer shows it as it is then`, reply: Node },
          ({ path, body }) => project(path).change((live) => actOnOne(live, path.node_id, action, body)),
        ),
        route(all, { right: 'Node.PowerMgmt', summary: `${summary} all nodes; each is attempted`, status: 204 }, ({ path }) =>
          project(path).change((live) => actOnAll(live, action)),
        ),
      ];
    }),
  ];
}

function creationRoute({ projects, computes, settings, templates }: Controller): Route {
  return route(
    'POST /v2/projects/{project_id}/nodes',
    { right: 'Node.Allocate', summary: 'Create a node', body: NodeRequest, status: 201, reply: Node },
    ({ path, body: { strict, ...body } }) => {
      if (body.compute_id !== anyCompute) computes.get(body.compute_id);
      const wanted = checkRequested(templates.complete(body), settings);
      return projects
        .get(path.project_id)
        .change((live) => withWarnings(live, wanted, live.nodes.create(wanted, undefined, lenienceOf(strict))));
    },
  );
}

function migrateRoute({ projects, computes, relocation }: Controller): Route {
  return route(
    'POST /v2/projects/{project_id}/nodes/{node_id}/migrate',
    {
      right: 'Node.Modify',
      summary: 'Move a node to another compute: a running QEMU machine while it runs; answered when it is there',
      body: NodeMigrate,
      reply: NodeMigration,
      own: true,
    },
    ({ path, body }) => {
      const compute = computes.get(body.compute_id);
      return projects.get(path.project_id).change((live) => relocation.migrate(live, path.node_id, compute));
    },
  );
}

/** The project is entered once the disks are converted: nothing of it waits for them. */
function convertRoute(projects: Controller['projects']): Route {
  return route(
    'POST /v2/projects/{project_id}/nodes/{node_id}/convert',
    {
      right: 'Node.Allocate',
      summary: 'Make a machine of QEMU of one of VirtualBox or VMware, whose disks are in the image folder; the old node stays',
      body: DisksToConvert,
      status: 201,
      reply: Node,
      own: true,
      fillsDisk: true,
    },
    async ({ path, body }) => {
      const project = projects.get(path.project_id);
      const node = (await project.live()).nodes.get(path.node_id);
      convertedNode(node.entry);
      return withConvertedDisks(node.requireCompute(), body.disks, (images) =>
        project.change((live) => live.nodes.create(convertedNode(live.nodes.get(path.node_id).entry)(images))),
      );
    },
  );
}

/** Copies, disks, and clients of consoles. */
function otherRoutes({ projects }: Controller): Route[] {
  const project = (path: { project_id: string }) => projects.get(path.project_id);
  return [
    route(
      'POST /v2/projects/{project_id}/nodes/{node_id}/console/reset',
      { right: 'Node.Console', summary: 'Disconnect the clients of a console', status: 204 },
      ({ path }) => project(path).change((live) => live.nodes.resetConsole(path.node_id)),
    ),
    route(
      'POST /v2/projects/{project_id}/nodes/console/reset',
      { right: 'Node.Console', summary: 'The same for all telnet consoles', status: 204 },
      ({ path }) => project(path).change((live) => resetAllConsoles(live.nodes)),
    ),
    route(
      'POST /v2/projects/{project_id}/nodes/{node_id}/duplicate',
      {
        right: 'Node.Allocate',
        fillsDisk: true,
        summary: 'Copy a stopped node with its files; its links are not copied',
        body: NodeDuplicate,
        status: 201,
        reply: Node,
      },
      ({ path, body }) => project(path).change((live) => live.nodes.duplicate(path.node_id, body)),
    ),
    convertRoute(projects),
    route(
      'POST /v2/projects/{project_id}/nodes/{node_id}/resize_disk',
      { right: 'Node.Allocate', summary: 'Make a disk of a stopped node larger', empty: true, status: 201 },
      async ({ path, body }) => {
        const resize = (node: OpenNode) => node.transport.send(`POST ${node.route}/resize_disk`, { ...node.request, body });
        await project(path).change((live) => live.nodes.withNode(path.node_id, resize));
      },
    ),
  ];
}

/** Routes that the node's compute answers. */
function computeRoutes({ projects }: Controller): Route[] {
  const nodeOf = async (path: { project_id: string; node_id: string }) =>
    (await projects.get(path.project_id).live()).nodes.get(path.node_id);
  return [
    route(
      'POST /v2/projects/{project_id}/nodes/{node_id}/probe',
      {
        right: 'Node.Console',
        summary: 'Let a running PC ping, connect, trace or look up, and answer with numbers',
        body: NodeProbe,
        reply: NodeProbeAnswer,
        own: true,
      },
      async ({ path, body, signal }) => {
        const { transport, route: key, request } = await nodeOf(path);
        // The answer comes when the probe has ended.
        return transport.call(`POST ${key}/probe`, { ...request, body, timeoutMs: 0, signal });
      },
    ),
    route(
      'GET /v2/projects/{project_id}/nodes/{node_id}/dynamips/auto_idlepc',
      { right: 'Node.Audit', summary: 'The idle-PC value that suits a router best', reply: IdlePc },
      async ({ path }) => {
        const { transport, route: key, request } = await nodeOf(path);
        return transport.call(`GET ${key}/auto_idlepc`, request);
      },
    ),
    route(
      'GET /v2/projects/{project_id}/nodes/{node_id}/dynamips/idlepc_proposals',
      { right: 'Node.Audit', summary: 'Idle-PC values that may suit a router', reply: IdlePcProposals },
      async ({ path }) => {
        const { transport, route: key, request } = await nodeOf(path);
        return transport.call(`GET ${key}/idlepc_proposals`, request);
      },
    ),
    socketRoute(
      'GET /v2/projects/{project_id}/nodes/{node_id}/console/ws',
      {
        right: 'Node.Console',
        summary: 'The console of a started node: what a serial line shows, or RFB where the console is a screen',
      },
      async ({ path, signal }) => {
        const { transport, address } = await nodeOf(path);
        return transport.socket(`${address}/console/ws`, signal);
      },
      (socket, join) => join(socket),
    ),
    socketRoute(
      'GET /v2/projects/{project_id}/nodes/{node_id}/aux/ws',
      { right: 'Node.Console', summary: 'The auxiliary console of a started node: of a container, a shell in it', own: true },
      async ({ path, signal }) => {
        const { transport, address } = await nodeOf(path);
        return transport.socket(`${address}/aux/ws`, signal);
      },
      (socket, join) => join(socket),
    ),
  ];
}
