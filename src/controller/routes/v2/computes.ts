import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { fault } from '../../../api/faults.ts';
import { type Call, type Method, type Route, route, Stream } from '../../../api/route.ts';
import type { RawAnswer } from '../../../api/transport.ts';
import { Name, named, strict } from '../../../schema/common.ts';
import { ComputeCreate, ComputeObject, ComputeUpdate } from '../../../schema/compute.ts';
import { Finding } from '../../../schema/finding.ts';
import { ComputeFidelity, Image, TakenPorts } from '../../../schema/host.ts';
import { IdlePc } from '../../../schema/idle-pc.ts';
import { type Static, Type } from '../../../schema/type.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import { checkReply, parseReply } from '../../computes/remote-answers.ts';
import type { TemporaryProjects } from '../../computes/temporary-projects.ts';
import type { Controller } from '../../controller.ts';
import { forwardedRight } from '../common-rights.ts';

const AutoIdlePc = Type.Object({ platform: Name(), image: Name(), ram: Type.Integer() }, strict);
const Endpoint = Type.Object({ endpoint: Type.String() }, named('Endpoint'));

export function computeRoutes(controller: Controller): Route[] {
  const { computes } = controller;
  return [
    route(
      'POST /v2/computes',
      { right: 'Compute.Allocate', summary: 'Register a compute', body: ComputeCreate, status: 201, reply: ComputeObject },
      async ({ body }) => (await computes.create(body)).object,
    ),
    route('GET /v2/computes', { right: 'login', summary: 'List the computes', reply: Type.Array(ComputeObject) }, () =>
      computes.list(),
    ),
    route(
      'GET /v2/computes/{compute_id}',
      { right: 'login', summary: 'Get a compute', reply: ComputeObject },
      ({ path }) => computes.get(path.compute_id).object,
    ),
    route(
      'PUT /v2/computes/{compute_id}',
      { right: 'Compute.Modify', summary: 'Change a compute; it is connected anew', body: ComputeUpdate, reply: ComputeObject },
      async ({ path, body }) => (await computes.update(path.compute_id, body)).object,
    ),
    route(
      'DELETE /v2/computes/{compute_id}',
      { right: 'Compute.Allocate', summary: 'Forget a compute; its projects are closed', status: 204 },
      ({ path }) => controller.forgetCompute(path.compute_id),
    ),
    ...computeFigureRoutes(controller),
  ];
}

function computeFigureRoutes(controller: Controller): Route[] {
  const { computes } = controller;
  return [
    route(
      'GET /v2/computes/{compute_id}/ports',
      { right: 'Compute.Audit', summary: 'Ports in use on a compute', reply: TakenPorts },
      async ({ path }) => {
        const body = await computes.get(path.compute_id).transport.call('GET /v2/compute/network/ports');
        return body;
      },
    ),
    route(
      'GET /v2/computes/{compute_id}/doctor',
      {
        right: 'Compute.Audit',
        summary: 'What a compute can use and what it lacks, as found by its doctor',
        reply: Type.Array(Finding),
        own: true,
      },
      ({ path }) => computes.get(path.compute_id).transport.call('GET /v2/compute/doctor'),
    ),
    route(
      'GET /v2/computes/{compute_id}/fidelity',
      {
        right: 'Compute.Audit',
        summary: 'How late the fabric of a compute is, and what its hypervisor withholds',
        reply: ComputeFidelity,
        own: true,
      },
      ({ path }) => computes.get(path.compute_id).transport.call('GET /v2/compute/fidelity'),
    ),
    route(
      'POST /v2/computes/{compute_id}/auto_idlepc',
      { right: 'Compute.Audit', summary: 'Find an idle-PC value for a router image', body: AutoIdlePc, reply: IdlePc },
      ({ path, body }) => autoIdlePc(computes.get(path.compute_id), computes.temporary, body),
    ),
    ...proxyRoutes(controller),
  ];
}

type ProxyCall = Call<'{compute_id}{emulator}{action:.+}'>;

/** Requests that are forwarded to a compute; a success is always 200. */
function proxyRoutes({ computes }: Controller): Route[] {
  const forward = async (method: Method, { path, stream }: ProxyCall) => {
    const { transport } = computes.get(path.compute_id);
    const target = computePath(path.emulator, path.action);
    if (isArrival(path)) throw fault('compute_route_missing', { request: `/${path.emulator}/${path.action}` });
    // Bodies of GET are small, and most have none: a stream of unknown length would be sent as one.
    const body = method === 'GET' && stream ? await buffer(stream) : stream;
    const answer = await transport.raw(method, target, body);
    const type = answer.headers['content-type'] ?? '';
    const isEmpty = answer.status === 204 || answer.headers['content-length'] === '0';
    if (type !== '' && type !== 'application/json' && !isEmpty) return new Stream(type, answer.body);
    const text = await textOf(answer);
    return text === ''
      ? {}
      : parseReply(computes.get(path.compute_id).record.name, `${method} /${path.emulator}/${path.action}`, text);
  };
  return [
    route(
      'GET /v2/computes/endpoint/{compute_id}/{emulator}/{action:.+}',
      { right: 'Compute.Audit', summary: 'Where to reach a compute directly', reply: Endpoint },
      ({ path }) => {
        const { protocol, host, port } = computes.get(path.compute_id).record;
        const shown = host.includes(':') ? `[${host}]` : host;
        return { endpoint: `${protocol}://${shown}:${port}${computePath(path.emulator, path.action)}` };
      },
    ),
    route(
      'GET /v2/computes/{compute_id}/{emulator}/images',
      { right: 'Image.Audit /images', summary: 'List the images of a compute, sorted', reply: Type.Array(Image) },
      async ({ path }) => {
        const { transport, record } = computes.get(path.compute_id);
        const text = await textOf(await transport.raw('GET', computePath(path.emulator, 'images')));
        const request = `GET /${path.emulator}/images`;
        const images = await checkReply(ListedImages, { name: record.name, request, text });
        return (images as Static<typeof ListedImages>).sort((one, other) => compare(nameOf(one), nameOf(other)));
      },
    ),
    route(
      'GET /v2/computes/{compute_id}/{emulator}/{action:.+}',
      { right: forwardedRight('GET'), summary: 'Request to a compute; the body is forwarded', raw: true },
      (call) => forward('GET', call),
    ),
    route(
      'POST /v2/computes/{compute_id}/{emulator}/{action:.+}',
      { right: forwardedRight('POST'), summary: 'Request to a compute; the body is forwarded unchanged', raw: true },
      (call) => forward('POST', call),
    ),
    route(
      'PUT /v2/computes/{compute_id}/{emulator}/{action:.+}',
      { right: forwardedRight('PUT'), summary: 'Request to a compute; the body is forwarded unchanged', raw: true },
      (call) => forward('PUT', call),
    ),
  ];
}

async function textOf({ body }: RawAnswer): Promise<string> {
  return (body instanceof Uint8Array ? Buffer.from(body) : await buffer(body)).toString('utf8');
}

/** Files have a name; images of a Docker engine another one. */
const ListedImage = Type.Object({ filename: Type.Optional(Type.String()), image: Type.Optional(Type.String()) });
const ListedImages = Type.Array(ListedImage);

function nameOf(image: Static<typeof ListedImage>): string {
  return image.filename ?? image.image ?? '';
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** Memory of machines goes from compute to compute, and is never a client's: the computes take it from their controller as its own. */
function isArrival({ emulator, action }: { readonly emulator: string; readonly action: string }): boolean {
  const parts = `${emulator}/${action}`.split('/').map(decoded);
  return parts[0] === 'projects' && parts[2] === 'arrivals';
}

/** The compute's router decodes once more what is encoded twice. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part).toLowerCase();
  } catch {
    return part;
  }
}

/** @throws `compute_route_missing` for a path outside the compute API */
function computePath(emulator: string, action: string): string {
  const path = `${emulator}/${action}`;
  if (path.split('/').some((part) => part === '.' || part === '..' || part === ''))
    throw fault('compute_route_missing', { request: `/${path}` });
  return `/v2/compute/${path}`;
}

interface AutoIdlePcRequest {
  readonly platform: string;
  readonly image: string;
  /** MiB. */
  readonly ram: number;
}

/** GNS3's name of the project, and of its router. */
const idlePcName = 'AUTOIDLEPC';
/** The router boots for 20 s; then up to some ten values are tried for 3 s each. */
const idlePcLimitMs = 300_000;

/**
 * Finds an idle-PC value for a router image, with a router of a project that exists on the compute alone, and no longer than that.
 * @throws what the compute refuses
 */
async function autoIdlePc(
  compute: RegisteredCompute,
  temporary: TemporaryProjects,
  { platform, image, ram }: AutoIdlePcRequest,
): Promise<Static<typeof IdlePc>> {
  const { transport } = compute;
  const project = { project_id: randomUUID() };
  await temporary.begin(compute, project.project_id);
  try {
    await transport.send('POST /v2/compute/projects', { body: { ...project, name: idlePcName } });
    const router = { platform, image, ram, name: idlePcName, node_id: randomUUID() };
    await transport.send('POST /v2/compute/projects/{project_id}/dynamips/nodes', { path: project, body: router });
    const path = { ...project, node_id: router.node_id };
    return await transport.call('GET /v2/compute/projects/{project_id}/dynamips/nodes/{node_id}/auto_idlepc', {
      path,
      timeoutMs: idlePcLimitMs,
    });
  } finally {
    await temporary.end(project.project_id, compute);
  }
}
