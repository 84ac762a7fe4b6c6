/** The compute's routes behind real HTTP: what the other tests, which call by route key, do not see. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { fault, isFault } from '../../../src/api/faults.ts';
import { LocalTransport } from '../../../src/api/local-transport.ts';
import type { ComputeApi } from '../../../src/compute/api.ts';
import { HostCompute } from '../../../src/compute/compute.ts';
import { Store } from '../../../src/compute/store.ts';
import { implementedTypes } from '../../../src/emulators/kinds.ts';
import { createHttpServer } from '../../../src/http/server.ts';
import type { Capabilities } from '../../../src/schema/compute.ts';
import type { Static } from '../../../src/schema/type.ts';
import { readSettings } from '../../../src/settings.ts';
import { RawClient } from '../../support/raw-http.ts';
import { waitFor } from '../../support/wait-for.ts';
import { openWebSocket } from '../../support/web-socket.ts';

describe('routes of the compute', () => {
  let folder: string;
  let compute: HostCompute;
  let app: Awaited<ReturnType<typeof createHttpServer>>;
  let base: string;
  let client: RawClient;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pb-'));
    const log = pino({ level: 'silent' });
    compute = await HostCompute.open({
      settings: await readSettings({ dataDirectory: folder, local: false }),
      log,
      version: '2.2.60',
      findings: async () => [],
    });
    app = await createHttpServer({ routes: compute.routes(), log, serverHeader: 'test', allowedOrigins: [] });
    await app.listen({ host: '127.0.0.1', port: 0 });
    base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/v2/compute`;
    client = new RawClient(base);
  });
  after(async () => {
    client?.close();
    await app?.close();
    await compute?.stop({ stopNodes: true });
    await rm(folder, { recursive: true });
  });

  async function call(method: string, path: string, body?: unknown) {
    const reply = await client.send(`${method} ${new URL(base).pathname}${path}`, Buffer.isBuffer(body) ? { raw: body } : { body });
    const isJson = reply.headers['content-type'] === 'application/json' && reply.bytes.length > 0;
    return { status: reply.status, body: isJson ? reply.json<unknown>() : reply.text(), headers: reply.headers };
  }

  it('describe the server', async () => {
    assert.deepEqual((await call('GET', '/version')).body, { version: '2.2.60', local: false });
    const capabilities = (await call('GET', '/capabilities')).body as { node_types: string[] };
    assert.deepEqual(capabilities.node_types, implementedTypes);
    for (const path of [
      '/statistics',
      '/network/ports',
      '/network/interfaces',
      '/projects',
      '/qemu/images',
      '/qemu/capabilities',
    ]) {
      assert.equal((await call('GET', path)).status, 200, path);
    }
  });

  it('keep projects', async () => {
    const project_id = randomUUID();
    const project = { name: 'p', project_id, variables: null };
    assert.deepEqual((await call('POST', '/projects', { name: 'p', project_id, zoom: 50 })).body, project);
    assert.deepEqual(await call('POST', '/projects', { name: 'q', project_id }).then(({ status, body }) => [status, body]), [
      201,
      project,
    ]);
    assert.equal((await call('POST', '/projects', { project_id })).status, 400);
    assert.equal((await call('POST', '/projects', { name: 'x', path: '/somewhere' })).status, 403);
    assert.deepEqual((await call('PUT', `/projects/${project_id}`, { variables: [{ name: 'A' }] })).body, {
      ...project,
      variables: [{ name: 'A' }],
    });
    assert.deepEqual((await call('PUT', `/projects/${project_id}`, { name: 'other' })).body, project);
    assert.equal((await call('POST', `/projects/${project_id}/files/a/b.txt`, Buffer.from('hi'))).status, 201);
    assert.equal((await call('GET', `/projects/${project_id}/files/a/b.txt`)).body, 'hi');
    assert.equal((await call('GET', `/projects/${project_id}/files/..%2f..%2fstate%2fcompute.journal`)).status, 403);
    assert.equal((await call('POST', `/projects/${project_id}/ports/udp`)).status, 201);
    assert.equal((await call('GET', '/projects/nope')).status, 400);
    assert.equal((await call('GET', `/projects/${randomUUID()}`)).status, 404);
    assert.equal((await call('POST', `/projects/${project_id}/close`)).status, 204);
    assert.equal((await call('DELETE', `/projects/${project_id}`)).status, 404);
    const { body } = await call('GET', '/network/ports');
    assert.deepEqual((body as { udp_ports: number[] }).udp_ports, []);
  });

  it('answer nodes and NIOs with the right status', async () => {
    const project_id = randomUUID();
    await call('POST', '/projects', { name: 'p', project_id });
    const nodes = `/projects/${project_id}/vpcs/nodes`;
    const made = await call('POST', nodes, { name: 'PC1' });
    assert.equal(made.status, 201);
    const node = `${nodes}/${(made.body as { node_id: string }).node_id}`;
    const nio = { type: 'nio_udp', lport: 27_001, rhost: '127.0.0.1', rport: 27_002 };
    const bound = await call('POST', `${node}/adapters/0/ports/0/nio`, { ...nio, filters: {} });
    assert.deepEqual([bound.status, bound.body], [201, nio]);
    const template =
      '/v2/compute/projects/{project_id}/vpcs/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/nio';
    assert.equal(bound.headers['x-route'], template);
    assert.equal((await call('PUT', `${node}/adapters/0/ports/0/nio`, nio)).status, 201);
    assert.equal((await call('POST', `${node}/adapters/x/ports/0/nio`, nio)).status, 404);
    assert.equal((await call('POST', `${node}/adapters/0/ports/0/nio`, { type: 'nio_x' })).status, 400);
    assert.equal((await call('DELETE', `${node}/adapters/0/ports/0/nio`)).status, 204);
    assert.equal((await call('POST', `${node}/duplicate`, {})).status, 400);
    assert.equal((await call('GET', `${node}/console/ws`)).status, 400);
    await assert.rejects(openWebSocket(`${base}${node}/console/ws`));
    assert.equal((await call('POST', `${node}/start`)).status, 200);
    const console = await openWebSocket(`${base}${node}/console/ws`);
    const type = () => {
      console.send(Buffer.from('show ip\r\n'));
      return Buffer.concat(console.messages.map((message) => Buffer.from(message))).includes('MAC');
    };
    await waitFor(type, { what: 'an answer at the console', everyMs: 500 });
    console.close();
    assert.equal((await call('POST', `${node}/console/reset`)).status, 204);
    assert.equal((await call('DELETE', node)).status, 204);
    assert.equal((await call('DELETE', `/projects/${project_id}`)).status, 204);
  });

  it('answer their own controller before a node is stored, and start no node that is not; others wait', async (context) => {
    const transport = new LocalTransport<ComputeApi>({
      routes: compute.routes(),
      events: compute.events,
      capabilities: (await call('GET', '/capabilities')).body as Static<typeof Capabilities>,
    });
    const project_id = randomUUID();
    await transport.send('POST /v2/compute/projects', { body: { name: 'p', project_id } });
    const path = { project_id };
    const full = fault('storage_failed', { reason: 'the disk is full' });
    const setNode = context.mock.method(Store.prototype, 'setNode', () => Promise.reject(full));
    const made = await transport.call('POST /v2/compute/projects/{project_id}/vpcs/nodes', { path, body: { name: 'PC1' } });
    const node = { ...path, node_id: String(made.node_id) };
    const nodes = `/projects/${project_id}/vpcs/nodes`;
    assert.equal((await call('POST', nodes, { name: 'PC2' })).status, 507);
    // Requests of clients that the controller forwards wait until the node is stored: clients keep nothing.
    const forwarded = transport.raw('POST', `/v2/compute${nodes}`, Buffer.from('{"name": "PC3"}'));
    await assert.rejects(forwarded, (error) => isFault(error, 'storage_failed'));
    assert.equal((await call('POST', `${nodes}/${node.node_id}/start`)).status, 507);
    setNode.mock.restore();
    const stored = context.mock.method(Store.prototype, 'setNode');
    for (const _ of [1, 2]) assert.equal((await call('POST', `${nodes}/${node.node_id}/start`)).status, 200);
    assert.deepEqual(
      stored.mock.calls.map(({ arguments: [record] }) => record?.node_id),
      [node.node_id],
    );
    assert.equal((await call('DELETE', `/projects/${project_id}`)).status, 204);
  });

  it('send a ping at once, each event, and a ping after a silence', async () => {
    const listener = await openWebSocket(`${base}/notifications/ws`);
    const first = JSON.parse(String(await listener.next(() => true)));
    assert.deepEqual([first.action, Object.keys(first.event).sort()], ['ping', ['cpu_usage_percent', 'memory_usage_percent']]);
    compute.events.emit({ action: 'log.info', event: { message: 'hello' }, project_id: 'x' });
    const second = JSON.parse(String(await listener.next(() => true)));
    assert.deepEqual(second, { action: 'log.info', event: { message: 'hello' }, project_id: 'x' });
    await listener.next((text) => String(text).includes('ping'));
    listener.close();
    await listener.closed;
    await waitFor(() => compute.events.listeners === 0 || undefined, { what: 'the end of the subscription' });
  });

  it('send those of one project as lines, and nothing of an unknown one', async () => {
    const project_id = randomUUID();
    await call('POST', '/projects', { name: 'p', project_id });
    const leave = new AbortController();
    const path = `/v2/compute/projects/${project_id}/notifications`;
    const answer = await fetch(`${base}/projects/${project_id}/notifications`, { signal: leave.signal });
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/json']);
    assert.equal(answer.headers.get('x-route'), path.replace(project_id, '{project_id}'));
    const lines = createInterface(Readable.fromWeb(answer.body as ReadableStream))[Symbol.asyncIterator]();
    const next = async () => JSON.parse(String((await lines.next()).value));
    assert.equal((await next()).action, 'ping');
    compute.events.emit({ action: 'log.info', event: { message: 'not here' }, project_id: randomUUID() });
    const event = { action: 'log.info', event: { message: 'here' }, project_id } as const;
    compute.events.emit(event);
    assert.deepEqual(await next(), event);
    assert.equal((await next()).action, 'ping');
    leave.abort();
    await waitFor(() => compute.events.listeners === 0 || undefined, { what: 'the end of the subscription' });
    assert.equal((await call('GET', `/projects/${randomUUID()}/notifications`)).status, 404);
    await call('DELETE', `/projects/${project_id}`);
  });

  it('list binaries, take and give images', async () => {
    const all = (await call('GET', '/qemu/binaries')).body as { path: string; version: string }[];
    assert.ok(all.some(({ path }) => path.endsWith('qemu-system-x86_64')));
    const upload = (name: string, content: string) => call('POST', `/qemu/images/${name}`, Buffer.from(content));
    assert.equal((await upload('sub/x.img', 'seven bytes')).status, 204);
    assert.equal((await upload('..%2f..%2fx.img', 'seven bytes')).status, 403);
    assert.equal((await call('GET', '/qemu/images/x.img')).body, 'seven bytes');
    assert.equal((await call('GET', '/qemu/images/none.img')).status, 409);
    assert.deepEqual((await call('GET', '/qemu/images')).body, [
      { filename: 'x.img', filesize: 11, md5sum: 'c349034a30eaef32d59be1d4996b7d29', path: 'sub/x.img' },
    ]);
    const image = { qemu_img: '/usr/bin/qemu-img', path: 'made.qcow2', format: 'qcow2', size: 10 };
    assert.equal((await call('POST', '/qemu/img', image)).status, 201);
    assert.equal((await call('POST', '/qemu/img', image)).status, 409);
    assert.equal((await call('PUT', '/qemu/img', { qemu_img: '/usr/bin/qemu-img', path: 'made.qcow2', extend: 1 })).status, 201);
    assert.ok((await readdir(join(folder, 'images', 'QEMU'))).includes('made.qcow2'));
  });

  it('make the disk of a stopped node larger', async () => {
    const project_id = randomUUID();
    await call('POST', '/projects', { name: 'p', project_id });
    const nodes = `/projects/${project_id}/qemu/nodes`;
    const made = await call('POST', nodes, { name: 'VM', hda_disk_image: 'made.qcow2', hda_disk_interface: 'virtio' });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const node = `${nodes}/${(made.body as { node_id: string }).node_id}`;
    const grown = await call('POST', `${node}/resize_disk`, { drive_name: 'hda', extend: 3 });
    assert.equal(grown.status, 201, JSON.stringify(grown.body));
    assert.deepEqual(await readdir((made.body as { node_directory: string }).node_directory), ['hda_disk.qcow2']);
    await call('DELETE', `/projects/${project_id}`);
  });
});
