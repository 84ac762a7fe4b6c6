/** The routes of nodes, for every kind that can be made here; which of them a kind has follows from its facts. */
import { mkdir } from 'node:fs/promises';
import { fault } from '../../api/faults.ts';
import { computeRoute, computeSocketRoute, type Route, type Socket } from '../../api/route.ts';
import type { NodeAccess, StartOptions } from '../../emulators/driver.ts';
import type { Kind } from '../../emulators/kind.ts';
import { strict, Uuid } from '../../schema/common.ts';
import { ComputeNode, ComputeNodeDelete } from '../../schema/compute-node.ts';
import { Nio } from '../../schema/nio.ts';
import type { ConsoleType } from '../../schema/node.ts';
import { type Static, Type } from '../../schema/type.ts';
import type { NodeConsole } from '../console/console.ts';
import { Screen } from '../console/screen.ts';
import { restoreFolder, restoreMissing } from '../host/kept-folders.ts';
import { presentNio } from '../links/nio.ts';
import { copyNode } from '../projects/copy.ts';
import type { NodeInput } from '../projects/projects.ts';
import type { ComputeRouteContext } from './route-context.ts';

export function nodeRoutes(parts: ComputeRouteContext) {
  return [...parts.context.drivers.values()].flatMap((driver) => [
    ...lifeRoutes(parts, driver.kind),
    ...verbRoutes(parts, driver.kind),
    ...nioRoutes(parts, driver.kind),
    ...consoleRoutes(parts, driver.kind),
  ]);
}

/** Routes that only one kind has; `api.ts` lists those that the controller calls. */
export function routesOfKinds(parts: ComputeRouteContext): Route[] {
  return [...parts.context.drivers.values()].flatMap((driver) => driver.routes?.(accessTo(parts, driver.kind)) ?? []);
}

function accessTo({ projects }: ComputeRouteContext, { type }: Kind): NodeAccess {
  const nodeOf = (path: { project_id: string; node_id: string }) => projects.node(path.project_id, type, path.node_id);
  return {
    get: (path) => nodeOf(path).view(),
    suspend: async (path) => nodeOf(path).suspend(),
    resume: async (path) => nodeOf(path).resume(),
    async whileStopped(path, what, work) {
      const node = nodeOf(path);
      return node.exclusively(async () => {
        if (node.status !== 'stopped') throw fault('node_running', { name: node.name, what });
        await mkdir(node.directory, { recursive: true });
        return work(node.view());
      });
    },
  };
}

/** A change as validated by the kind's schema. */
interface ComputeNodeUpdate {
  readonly name?: string | null;
  readonly console?: number | null;
  readonly console_type?: ConsoleType;
  readonly [property: string]: unknown;
}

function lifeRoutes({ projects }: ComputeRouteContext, kind: Kind) {
  const { type, title } = kind;
  return [
    computeRoute(
      `POST /v2/compute/projects/{project_id}/${type}/nodes`,
      { summary: `Create a ${title} node`, reply: ComputeNode, body: kind.create, status: 201 },
      async ({ path, body, isInProcess = false }) => {
        const project = projects.get(path.project_id);
        return (await projects.createNode(project, type, body as NodeInput, { isInProcess })).present();
      },
    ),
    computeRoute(
      `GET /v2/compute/projects/{project_id}/${type}/nodes/{node_id}`,
      { summary: `Get a ${title} node`, reply: ComputeNode },
      ({ path }) => projects.node(path.project_id, type, path.node_id).present(),
    ),
    computeRoute(
      `PUT /v2/compute/projects/{project_id}/${type}/nodes/{node_id}`,
      { summary: `Change a ${title} node`, reply: ComputeNode, body: kind.update },
      async ({ path, body }) => {
        const node = projects.node(path.project_id, type, path.node_id);
        const { name, console, console_type, ...properties } = body as ComputeNodeUpdate;
        const given = { ...(name && { name }), ...(console !== undefined && { console }), ...(console_type && { console_type }) };
        await node.update({ ...given, properties });
        return node.present();
      },
    ),
    computeRoute(
      `DELETE /v2/compute/projects/{project_id}/${type}/nodes/{node_id}`,
      {
        summary: `Delete a ${title} node with its files`,
        body: ComputeNodeDelete,
        status: 204,
      },
      ({ path, body }) => {
        const { keep_files: keepFiles = false } = body;
        return projects.deleteNode(projects.node(path.project_id, type, path.node_id), { keepFiles });
      },
    ),
    computeRoute(
      `POST /v2/compute/projects/{project_id}/${type}/nodes/{node_id}/restore_files`,
      { summary: 'Give a stopped node the files back that were kept when it was deleted', status: 204, own: true },
      ({ path }) => {
        const node = projects.node(path.project_id, type, path.node_id);
        return node.exclusively(() => {
          if (kind.alwaysRunning) return restoreMissing(node.project.path, node.id, node.directory);
          if (node.emulator) throw fault('node_running', { name: node.name, what: 'replace its files' });
          return restoreFolder(node.project.path, node.id, node.directory);
        });
      },
    ),
  ];
}

/** GNS3's clients send nothing, or fields of their own. */
const NodeStart = Type.Object(
  {
    generation: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Not in GNS3: the number by which the controller knows this run of the node again' }),
    ),
  },
  { title: 'NodeStart' },
);
const NodeStop = Type.Object(
  { now: Type.Optional(Type.Boolean({ description: 'Not in GNS3: switch it off at once, whatever its properties say' })) },
  { title: 'NodeStop' },
);

const Duplicate = Type.Object({ destination_node_id: Uuid }, strict);

function verbRoutes({ context, projects }: ComputeRouteContext, kind: Kind) {
  const { type, title, can } = kind;
  const node = `/v2/compute/projects/{project_id}/${type}/nodes/{node_id}` as const;
  const nodeOf = (path: { project_id: string; node_id: string }) => projects.node(path.project_id, type, path.node_id);
  const start = computeRoute(
    `POST ${node}/start`,
    {
      summary: `Start a ${title} node`,
      reply: ComputeNode,
      status: can.startAnswersNode ? 200 : 204,
      body: kind.start ?? NodeStart,
    },
    async ({ path, body }) => {
      const started = nodeOf(path);
      const { generation, ...options } = body as Static<typeof NodeStart> & StartOptions;
      await started.start(kind.start && options, generation);
      return can.startAnswersNode ? started.present() : undefined;
    },
  );
  const stop = computeRoute(
    `POST ${node}/stop`,
    { summary: `Stop a ${title} node`, body: NodeStop, status: 204 },
    ({ path, body }) => nodeOf(path).stop(body),
  );
  const suspend = computeRoute(
    `POST ${node}/suspend`,
    { summary: can.suspend ? `Suspend a ${title} node` : 'Does nothing: this kind cannot be suspended', status: 204 },
    ({ path }) => nodeOf(path).suspend(),
  );
  const resume = computeRoute(`POST ${node}/resume`, { summary: `Resume a suspended ${title} node`, status: 204 }, ({ path }) =>
    nodeOf(path).resume(),
  );
  const reload = computeRoute(`POST ${node}/reload`, { summary: `Reset a running ${title} node`, status: 204 }, ({ path }) =>
    nodeOf(path).reload(),
  );
  const duplicate = computeRoute(
    `POST ${node}/duplicate`,
    { summary: 'Copy the files of a node to one that was made for it', reply: ComputeNode, body: Duplicate, status: 201 },
    async ({ path, body }) => {
      const source = nodeOf(path);
      const destination = projects.anyNode(type, body.destination_node_id);
      await copyNode(context, source, destination);
      return destination.present();
    },
  );
  return [
    start,
    stop,
    suspend,
    ...(can.suspend ? [resume] : []),
    ...(can.reload ? [reload] : []),
    ...(can.duplicate ? [duplicate] : []),
  ];
}

/** Parses both numbers, which the route's template limits to digits. */
function numbers(path: { adapter_number: string; port_number: string }): { adapter: number; port: number } {
  return { adapter: Number(path.adapter_number), port: Number(path.port_number) };
}

function nioRoutes({ projects }: ComputeRouteContext, kind: Kind) {
  const { type, can } = kind;
  const place =
    `/v2/compute/projects/{project_id}/${type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/nio` as const;
  const routes = [
    computeRoute(
      `POST ${place}`,
      { summary: 'Join a port to where a NIO says', reply: Nio, body: Nio, status: 201 },
      async ({ path, body }) => {
        const nio = await projects.node(path.project_id, type, path.node_id).bindNio(numbers(path), body as Static<typeof Nio>);
        return presentNio(nio);
      },
    ),
    computeRoute(`DELETE ${place}`, { summary: 'Unplug a port', status: 204 }, ({ path }) =>
      projects.node(path.project_id, type, path.node_id).unbindNio(numbers(path)),
    ),
  ];
  if (!can.filter) return routes;
  const change = computeRoute(
    `PUT ${place}`,
    { summary: 'Change filters and suspension', reply: Nio, body: Nio, status: 201 },
    async ({ path, body }) => {
      await projects.node(path.project_id, type, path.node_id).changeNio(numbers(path), body as Static<typeof Nio>);
      return body;
    },
  );
  return [...routes, change];
}

function consoleRoutes({ projects }: ComputeRouteContext, kind: Kind) {
  const { type } = kind;
  if (!kind.can.resetConsole || !kind.consoleTypes.includes('telnet')) return [];
  const stream = computeSocketRoute(
    `GET /v2/compute/projects/{project_id}/${type}/nodes/{node_id}/console/ws`,
    { summary: 'The console as binary frames: what a serial line shows, or RFB where the console is a screen' },
    async ({ path, signal }): Promise<Screen | NodeConsole> => {
      const node = projects.node(path.project_id, type, path.node_id);
      const screen = node.screen();
      return screen ? Screen.open(screen, signal) : node.console();
    },
    (socket, console) => (console instanceof Screen ? console.join(socket) : attach(socket, console)),
  );
  const auxiliary = computeSocketRoute(
    `GET /v2/compute/projects/{project_id}/${type}/nodes/{node_id}/aux/ws`,
    { summary: 'The auxiliary console as binary frames', own: true },
    ({ path }) => projects.node(path.project_id, type, path.node_id).auxiliary(),
    attach,
  );
  const key = `POST /v2/compute/projects/{project_id}/${type}/nodes/{node_id}/console/reset` as const;
  const spec = { summary: 'Cut all clients of the console and open it anew', status: 204 };
  return [
    stream,
    auxiliary,
    computeRoute(key, spec, ({ path }) => projects.node(path.project_id, type, path.node_id).resetConsole()),
  ];
}

function attach(socket: Socket, console: NodeConsole): void {
  const client = console.attach({
    send: (bytes) => socket.send(bytes),
    bufferedAmount: () => socket.bufferedAmount,
    close: () => socket.close(),
  });
  socket.onMessage((bytes) => client.write(bytes));
  socket.onClose(() => client.detach());
}
