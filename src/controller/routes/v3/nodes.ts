import { extname } from 'node:path';
import { fault, isFault } from '../../../api/faults.ts';
import { type Call, type Route, route } from '../../../api/route.ts';
import { kinds } from '../../../emulators/kinds.ts';
import { named, nullable, oneOf, TcpPort } from '../../../schema/common.ts';
import type { Link } from '../../../schema/link.ts';
import {
  consoleTypes,
  type Node,
  Node as NodeReply,
  NodeRequest,
  type NodeType,
  NodeUpdate,
  nodeTypes,
} from '../../../schema/node.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';
import { knownProperties } from '../../model/known-properties.ts';
import { listNodeFiles } from '../../projects/project-files.ts';
import { DiskImageCreate, DiskImageUpdate, diskOptions } from './disk-images.ts';
import { refuseValue } from './refuse-value.ts';
import { type DeclareTwin, sameTwins } from './twins.ts';

const auxiliary = { aux: Type.Optional(nullable(TcpPort)), aux_type: Type.Optional(nullable(oneOf(consoleTypes))) };
const Node3 = Type.Object(
  { ...NodeReply.properties, aux: nullable(Type.Integer()), aux_type: nullable(Type.String()) },
  named('NodeOfV3'),
);
const NodeRequest3 = Type.Object({ ...NodeRequest.properties, ...auxiliary }, named('NodeRequestOfV3'));
const NodeUpdate3 = Type.Object({ ...NodeUpdate.properties, ...auxiliary }, named('NodeUpdateOfV3'));

const NodeFile3 = Type.Object(
  {
    path: Type.String(),
    size: Type.Integer(),
    created_at: Type.String(),
    modified_at: Type.String(),
    extension: Type.String({ description: 'Without the dot' }),
  },
  named('NodeFileOfV3'),
);

const verbs = ['start', 'stop', 'suspend', 'reload'] as const;

export function nodeRoutes(controller: Controller, twin: DeclareTwin): Route[] {
  const one = { reply: Node3, answer: (node: Node) => nodeOf(node) };
  const typeOf = ({ path }: Call) => {
    const { project_id, node_id } = path as { project_id: string; node_id: string };
    return controller.projects.find(project_id)?.liveNow?.nodes.find(node_id)?.object.node_type;
  };
  return [
    twin('GET /v3/projects/{project_id}/nodes', 'GET /v2/projects/{project_id}/nodes', {
      reply: Type.Array(Node3),
      answer: (nodes: readonly Node[]) => nodes.map(nodeOf),
    }),
    twin('POST /v3/projects/{project_id}/nodes', 'POST /v2/projects/{project_id}/nodes', {
      ...one,
      body: NodeRequest3,
      request: (call) => ({ ...call, body: bodyOf(call.body as NodeBody, (call.body as NodeBody).node_type) }),
    }),
    twin('GET /v3/projects/{project_id}/nodes/{node_id}', 'GET /v2/projects/{project_id}/nodes/{node_id}', one),
    twin('PUT /v3/projects/{project_id}/nodes/{node_id}', 'PUT /v2/projects/{project_id}/nodes/{node_id}', {
      ...one,
      body: NodeUpdate3,
      request: (call) => ({ ...call, body: bodyOf(call.body as NodeBody, typeOf(call)) }),
    }),
    twin(
      'POST /v3/projects/{project_id}/nodes/{node_id}/duplicate',
      'POST /v2/projects/{project_id}/nodes/{node_id}/duplicate',
      one,
    ),
    ...verbs.map((verb) => {
      const key = `projects/{project_id}/nodes/{node_id}/${verb}` as const;
      const made = twin(`POST /v3/${key}`, `POST /v2/${key}`, { status: 204 });
      return verb === 'reload' ? reloadsAll(made, typeOf) : made;
    }),
    ...sameTwins(twin, [
      ...verbs.map((verb) => `POST /v3/projects/{project_id}/nodes/${verb}` as const),
      'DELETE /v3/projects/{project_id}/nodes/{node_id}',
      'GET /v3/projects/{project_id}/nodes/{node_id}/links',
      'POST /v3/projects/{project_id}/nodes/console/reset',
      'POST /v3/projects/{project_id}/nodes/{node_id}/console/reset',
      'GET /v3/projects/{project_id}/nodes/{node_id}/files/{path:.+}',
      'POST /v3/projects/{project_id}/nodes/{node_id}/files/{path:.+}',
    ]),
    ...isolationRoutes(controller),
    fileListRoute(controller),
    screenRoute(twin, controller),
    ...[
      ...sameTwins(twin, [
        'GET /v3/projects/{project_id}/nodes/{node_id}/dynamips/auto_idlepc',
        'GET /v3/projects/{project_id}/nodes/{node_id}/dynamips/idlepc_proposals',
      ]),
      ...diskRoutes(controller),
    ].map((made) => ofItsType(made, typeOf)),
  ];
}

type TypeOf = (call: Call) => NodeType | undefined;

/** A node that has nothing to reload, such as a switch, is reloaded. */
function reloadsAll(made: Route, typeOf: TypeOf): Route {
  const isDone = (call: Call) => {
    const type = typeOf(call);
    return type !== undefined && kinds[type]?.can.reload === false;
  };
  return { ...made, handle: (call) => (isDone(call) ? undefined : made.handle(call)) };
}

/** A request that nodes of the type cannot do is one of the wrong type. @throws wrong_node_type */
function ofItsType(made: Route, typeOf: TypeOf): Route {
  const refuse = (call: Call, cause: unknown): never => {
    if (!isFault(cause, 'compute_route_missing')) throw cause;
    throw fault('wrong_node_type', { node_type: typeOf(call) ?? '', request: `${made.method} ${made.template}` }, { cause });
  };
  return { ...made, handle: (call) => Promise.resolve(made.handle(call)).catch((cause) => refuse(call, cause)) };
}

/** Farthest time from 1970 that a `Date` has: a file may have any. Milliseconds. */
const farthestMs = 8.64e15;

/** Formats a time as GNS3 does, in microseconds. */
function timeOf(ms: number): string {
  const shown = Math.max(-farthestMs, Math.min(farthestMs, ms));
  return `${new Date(shown).toISOString().slice(0, -1)}000`;
}

function fileListRoute({ projects }: Controller): Route {
  return route(
    'GET /v3/projects/{project_id}/nodes/{node_id}/files',
    { summary: 'List the files of a node on its compute', reply: Type.Array(NodeFile3), right: 'Node.Audit' },
    async ({ path }) => {
      const files = await listNodeFiles(await projects.get(path.project_id).live(), path.node_id);
      return files.map(({ path: name, size, created_at, modified_at }) => ({
        path: name,
        size,
        created_at: timeOf(created_at),
        modified_at: timeOf(modified_at),
        extension: extname(name).slice(1),
      }));
    },
  );
}

/** The screen of a node whose console is one. @throws node_console */
function screenRoute(twin: DeclareTwin, { projects }: Controller): Route {
  const node = 'projects/{project_id}/nodes/{node_id}/console' as const;
  return twin(`GET /v3/${node}/vnc`, `GET /v2/${node}/ws`, {
    summary: 'The screen of a started node as RFB in binary frames',
    request: (call: Call) => {
      const { project_id, node_id } = call.path as { project_id: string; node_id: string };
      const found = projects.find(project_id)?.liveNow?.nodes.find(node_id)?.object;
      if (found && found.console_type !== 'vnc')
        throw fault('node_console', { name: found.name, reason: `it has no screen: its console is ${found.console_type}` });
      return call;
    },
  });
}

function isolationRoutes({ projects }: Controller): Route[] {
  const suspendLinks = ({ project_id, node_id }: { readonly project_id: string; readonly node_id: string }, suspend: boolean) =>
    projects.get(project_id).change(async (live) => {
      live.nodes.get(node_id);
      await Promise.all(live.links.listOn(node_id).map(({ link_id }: Link) => live.linkOperations.update(link_id, { suspend })));
    });
  return [
    route(
      'POST /v3/projects/{project_id}/nodes/{node_id}/isolate',
      { summary: 'Suspend all links of a node', status: 204, right: 'Link.Modify' },
      ({ path }) => suspendLinks(path, true),
    ),
    route(
      'POST /v3/projects/{project_id}/nodes/{node_id}/unisolate',
      { summary: 'Resume all links of a node', status: 204, right: 'Link.Modify' },
      ({ path }) => suspendLinks(path, false),
    ),
  ];
}

/** Disks in the folder of a node. @throws compute_route_missing for kinds that have no disks */
function diskRoutes({ projects }: Controller): Route[] {
  const key = '/v3/projects/{project_id}/nodes/{node_id}/qemu/disk_image/{disk_name}' as const;
  const send = (verb: 'POST' | 'PUT' | 'DELETE', path: DiskPath, body?: unknown) =>
    projects.get(path.project_id).change((live) =>
      live.nodes.withNode(path.node_id, async (node) => {
        const { request } = node;
        const of = { path: { ...request.path, disk_name: path.disk_name }, ...(body !== undefined && { body }) };
        await node.transport.send(`${verb} ${node.route}/disk_image/{disk_name}`, { ...request, ...of });
      }),
    );
  const spec = { status: 204, right: 'Node.Allocate' } as const;
  return [
    route(
      `POST ${key}`,
      { ...spec, summary: 'Make a disk of a stopped node', body: DiskImageCreate, fillsDisk: true },
      ({ path, body }) => send('POST', path, diskOptions(body)),
    ),
    route(`PUT ${key}`, { ...spec, summary: 'Make a disk of a stopped node larger', body: DiskImageUpdate }, ({ path, body }) =>
      send('PUT', path, body),
    ),
    route(`DELETE ${key}`, { ...spec, summary: 'Delete a disk of a stopped node' }, ({ path }) => send('DELETE', path)),
  ];
}

interface DiskPath {
  readonly project_id: string;
  readonly node_id: string;
  readonly disk_name: string;
}

/** Types with a limit of processors, which `/v3` always shows. */
export const hasMaxCpus: ReadonlySet<NodeType> = new Set(nodeTypes.filter((type) => knownProperties(type).has('maxcpus')));

/** Shown nodes by the frozen ones that they are made of. */
const shown = new WeakMap<Node, object>();

/**
 * Returns a node as `/v3` shows it: its auxiliary console is a field of its own. For the same frozen node it is the same frozen object, whose
 * JSON text is cached, too.
 */
export function nodeOf(node: Node): object {
  if (!Object.isFrozen(node)) return showNode(node);
  const known = shown.get(node);
  if (known) return known;
  const made = Object.freeze(showNode(node));
  shown.set(node, made);
  return made;
}

function showNode(node: Node): object {
  const { aux = null, aux_type = null } = node.properties;
  const properties = hasMaxCpus.has(node.node_type) ? Object.freeze({ maxcpus: 1, ...node.properties }) : node.properties;
  return { ...node, properties, aux, aux_type };
}

interface NodeBody {
  readonly aux?: unknown;
  readonly aux_type?: unknown;
  readonly custom_adapters?: unknown;
  readonly node_type?: NodeType;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/**
 * Translates the body of a creation or update: the auxiliary console is a property of the node's type in `/v2`, and keys that the type
 * does not have are dropped, as GNS3 3.x does.
 */
function bodyOf({ aux, aux_type, custom_adapters, properties, ...body }: NodeBody, type: NodeType | undefined): object {
  refuseEtherType(properties?.ports_mapping);
  const known = type === undefined ? undefined : knownProperties(type);
  const isKnown = (key: string) => known === undefined || known.has(key);
  const auxiliary = { ...(isSet(aux) && { aux }), ...(isSet(aux_type) && aux_type !== 'none' && { aux_type }) };
  const wanted = Object.entries({ ...properties, ...auxiliary }).filter(([key]) => isKnown(key));
  return {
    ...body,
    ...(custom_adapters !== undefined && isKnown('custom_adapters') && { custom_adapters }),
    ...((properties !== undefined || wanted.length > 0) && { properties: Object.fromEntries(wanted) }),
  };
}

/** The empty type of frames, which is the default of `/v2`, is none here. @throws invalid_request */
function refuseEtherType(ports: unknown): void {
  const index = Array.isArray(ports) ? (ports as { ethertype?: unknown }[]).findIndex((port) => port?.ethertype === '') : -1;
  if (index < 0) return;
  const msg = "Input should be '0x8100', '0x88A8', '0x9100' or '0x9200'";
  refuseValue({ type: 'enum', loc: ['body', 'properties', 'ports_mapping', index, 'ethertype'], msg, input: '' });
}

const isSet = (value: unknown) => value !== undefined && value !== null;
