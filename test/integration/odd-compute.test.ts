/** A remote compute whose replies and events have another form than ours: GNS3 of another version, or another program altogether. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { fault } from '../../src/api/faults.ts';
import { type Route, route, type Socket, socketRoute } from '../../src/api/route.ts';
import { createHttpServer } from '../../src/http/server.ts';
import type { ComputeObject } from '../../src/schema/compute.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { createProject, withServer } from '../support/with-server.ts';

const { client, server } = await withServer();
const { version } = await client.get<{ version: string }>('/v2/version');

/** Replies of the compute, by method and path below `/v2/compute`, with ids left out. */
const replies = new Map<string, unknown>();
const events = new Set<Socket>();
/** Images that the compute takes of the controller, and the one that it claims to need. */
const uploaded: string[] = [];
let missing: string | undefined;
function requireImage(): void {
  if (missing !== undefined) throw fault('image_missing', { image: missing }, { extra: { image: missing } });
}
const project = '/v2/compute/projects/{project_id}';
const node = { name: 'PC1', status: 'stopped', console: 5000, console_type: 'telnet', command_line: '', gns3_only: true };

const reply = (name: string, standard: unknown) => () => (replies.has(name) ? replies.get(name) : standard);
const routes: Route[] = [
  route('GET /v2/compute/capabilities', { right: 'open', summary: '' }, () => ({
    version,
    node_types: ['vpcs', 'qemu', 'hologram', 7],
    link_streams: 'of course',
    link_encryption: 'rot13',
    platform: 5,
    cpus: 4,
  })),
  socketRoute(
    'GET /v2/compute/notifications/ws',
    { right: 'open', summary: '' },
    () => undefined,
    (socket) => {
      events.add(socket);
      socket.onClose(() => events.delete(socket));
    },
  ),
  route('GET /v2/compute/projects', { right: 'open', summary: '' }, reply('GET /projects', [])),
  route('POST /v2/compute/projects', { right: 'open', summary: '' }, () => 'made'),
  route(`POST ${project}/close`, { right: 'open', summary: '' }, () => undefined),
  route(`DELETE ${project}`, { right: 'open', summary: '' }, () => undefined),
  route('GET /v2/compute/statistics', { right: 'open', summary: '' }, reply('GET /statistics', {})),
  route('GET /v2/compute/network/ports', { right: 'open', summary: '' }, reply('GET /network/ports', {})),
  route('GET /v2/compute/vpcs/images', { right: 'open', summary: '' }, reply('GET /vpcs/images', [])),
  route(`POST ${project}/vpcs/nodes`, { right: 'open', summary: '', status: 201 }, ({ path, body }) =>
    replies.has('POST /nodes') ? replies.get('POST /nodes') : { ...node, ...path, ...(body as object) },
  ),
  route(`GET ${project}/vpcs/nodes/{node_id}`, { right: 'open', summary: '' }, ({ path }) => ({ ...node, ...path })),
  route(`DELETE ${project}/vpcs/nodes/{node_id}`, { right: 'open', summary: '' }, () => undefined),
  route(`GET ${project}/node_files/{node_type}/{node_id}`, { right: 'open', summary: '' }, reply('GET /node_files', [])),
  route(`POST ${project}/qemu/nodes`, { right: 'open', summary: '', status: 201 }, ({ path, body }) => {
    requireImage();
    return { ...node, ...path, ...(body as object), ...(replies.get('POST /nodes') as object) };
  }),
  route(`PUT ${project}/qemu/nodes/{node_id}`, { right: 'open', summary: '' }, ({ path, body }) => {
    requireImage();
    return { ...node, ...path, ...(body as object), ...(replies.get('POST /nodes') as object) };
  }),
  route(`POST ${project}/qemu/nodes/{node_id}/start`, { right: 'open', summary: '' }, ({ path }) => {
    requireImage();
    return { ...node, ...path, ...(replies.get('POST /nodes') as object) };
  }),
  route('GET /v2/compute/qemu/images', { right: 'open', summary: '' }, () => []),
  route(
    'POST /v2/compute/qemu/images/{filename}',
    { right: 'open', summary: '', raw: true, status: 204 },
    async ({ path, stream }) => {
      await stream?.toArray();
      uploaded.push(path.filename);
      missing = undefined;
    },
  ),
];

describe('a compute that replies in another form', () => {
  let app: FastifyInstance;
  let port: number;
  before(async () => {
    app = await createHttpServer({ routes, log: pino({ level: 'silent' }), serverHeader: 'odd', allowedOrigins: [] });
    await app.listen({ host: '127.0.0.1', port: 0 });
    port = (app.server.address() as AddressInfo).port;
    const body = { compute_id: 'odd', name: 'odd', protocol: 'http', host: '127.0.0.1', port };
    expectStatus(await client.send('POST /v2/computes', { body }), 201);
  });
  after(async () => {
    await client.send('DELETE /v2/computes/odd');
    await app.close();
  });

  const compute = () => client.get<ComputeObject>('/v2/computes/odd');
  const emit = (event: unknown) => {
    for (const socket of events) socket.send(JSON.stringify(event));
  };

  it('is used with those of its capabilities that are known', async () => {
    const { capabilities, connected } = await compute();
    assert.equal(connected, true);
    assert.deepEqual(capabilities.node_types, ['vpcs', 'qemu']);
    assert.deepEqual(capabilities, { version, node_types: ['vpcs', 'qemu'], cpus: 4 });
  });

  it('causes a fault that names the request, never an internal error', async () => {
    const odd: readonly [path: string, name: string, value: unknown][] = [
      ['/v2/computes/odd/ports', 'GET /network/ports', 'none'],
      ['/v2/computes/odd/ports', 'GET /network/ports', null],
      ['/v2/computes/odd/ports', 'GET /network/ports', { console_ports: 'all' }],
      ['/v2/computes/odd/vpcs/images', 'GET /vpcs/images', null],
      ['/v2/computes/odd/vpcs/images', 'GET /vpcs/images', { images: [] }],
      ['/v2/computes/odd/vpcs/images', 'GET /vpcs/images', [null]],
    ];
    for (const [path, name, value] of odd) {
      replies.set(name, value);
      expectFault(await client.send(`GET ${path}`), 409, /'odd'.*GET \/(network\/ports|vpcs\/images).*cannot be used/);
    }
    replies.clear();
  });

  it('is left out of the statistics', async () => {
    replies.set('GET /statistics', 'busy');
    const listed = await client.get<{ compute_id: string }[]>('/v2/statistics');
    assert.deepEqual(
      listed.map(({ compute_id }) => compute_id),
      ['local'],
    );
    replies.clear();
  });

  it('makes no node when its reply is not a node, and one when the reply has more keys than ours', async () => {
    const { path } = await createProject(client);
    const body = { name: 'PC', node_type: 'vpcs', compute_id: 'odd' };
    for (const value of [null, [], 'node', { ...node, status: 'asleep' }, { name: 'PC' }]) {
      replies.set('POST /nodes', value);
      expectFault(await client.send(`POST ${path}/nodes`, { body }), 409, /'odd'.*POST \/projects.*cannot be used/);
      assert.deepEqual(await client.get(`${path}/nodes`), []);
    }
    replies.clear();
    const made = await client.post<{ node_id: string; status: string }>(`${path}/nodes`, body);
    assert.equal(made.status, 'stopped');
    // Events of another form change nothing; the one after them shows that they were read.
    const id = { node_id: made.node_id, project_id: path.split('/').at(-1) };
    const updated = (event: object | null) => emit({ action: 'node.updated', event });
    for (const event of [null, { ...id, ...node, status: 'asleep' }, { ...node, node_id: made.node_id }]) updated(event);
    emit(null);
    emit({ action: 'ping', event: { cpu_usage_percent: 'much', memory_usage_percent: null } });
    emit({ action: 'capture.stopped', event: id });
    updated({ ...id, ...node, status: 'started' });
    const status = async () => (await client.get<{ status: string }>(`${path}/nodes/${made.node_id}`)).status;
    await waitFor(async () => (await status()) === 'started', { what: 'the status of the last event' });
    assert.equal((await compute()).cpu_usage_percent, null);
  });

  it('lists files with any time', async () => {
    const { path } = await createProject(client);
    const body = { name: 'PC', node_type: 'vpcs', compute_id: 'odd' };
    const { node_id } = await client.post<{ node_id: string }>(`${path}/nodes`, body);
    const files = `${path.replace('/v2/', '/v3/')}/nodes/${node_id}/files`;
    const shown = async (created_at: number, modified_at: number) => {
      replies.set('GET /node_files', [{ path: 'a.txt', size: 1, created_at, modified_at }]);
      const listed = await client.get<{ created_at: string; modified_at: string }[]>(files);
      return listed.map((file) => [file.created_at, file.modified_at]);
    };
    assert.deepEqual(await shown(0.5, 1e12), [['1970-01-01T00:00:00.000000', '2001-09-09T01:46:40.000000']]);
    // The first and the last time that there are.
    assert.deepEqual(await shown(-1e300, 1e300), [['-271821-04-20T00:00:00.000000', '+275760-09-13T00:00:00.000000']]);
    replies.clear();
  });

  it('is sent the images that a node names, and no others, whatever it answers', async () => {
    const folder = join(server.dataDir, 'images/QEMU');
    await mkdir(folder, { recursive: true });
    for (const name of ['named.img', 'later.img', 'secret.img']) await writeFile(join(folder, name), name);
    const { path } = await createProject(client);
    const properties = { hda_disk_image: 'named.img' };
    const body = { name: 'VM', node_type: 'qemu', compute_id: 'odd', properties };
    missing = 'secret.img';
    expectFault(await client.send(`POST ${path}/nodes`, { body }), 409, /secret\.img/);
    // A node that names it only since the compute says so.
    missing = undefined;
    replies.set('POST /nodes', { hdb_disk_image: 'secret.img', own_image: 'x/secret.img', hda_disk_image: '/images/named.img' });
    const made = await client.post<{ node_id: string; properties: Record<string, unknown> }>(`${path}/nodes`, body);
    const { hda_disk_image, hdb_disk_image, own_image } = made.properties;
    assert.deepEqual([hda_disk_image, hdb_disk_image, own_image], ['/images/named.img', undefined, undefined]);
    const place = `${path}/nodes/${made.node_id}`;
    for (const image of ['secret.img', '../QEMU/secret.img', 'C:\\images\\secret.img', '/images/']) {
      missing = image;
      expectStatus(await client.send(`POST ${place}/start`, { body: {} }), 409);
    }
    expectStatus(await client.send(`PUT ${place}`, { body: { properties: { hda_disk_image: 'later.img' } } }), 409);
    assert.deepEqual(uploaded, []);
    missing = '/other/named.img';
    expectStatus(await client.send(`POST ${place}/start`, { body: {} }), 200);
    missing = 'later.img';
    replies.set('POST /nodes', { hda_disk_image: 'later.img' });
    expectStatus(await client.send(`PUT ${place}`, { body: { properties: { hda_disk_image: 'later.img' } } }), 200);
    assert.deepEqual(uploaded, ['named.img', 'later.img']);
    const after = await client.get<typeof made>(place);
    assert.equal(after.properties.hda_disk_image, 'later.img');
    replies.clear();
  });
});
