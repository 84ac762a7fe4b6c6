/** GNS3 3's desktop client and web UI: the requests with which they connect, in their order, and clients of both generations at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listen } from '../support/notices.ts';
import type { RawClient } from '../support/raw-http.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { freshName, type NodeBody, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const limitMs = 60_000;

interface ProjectBody {
  readonly project_id: string;
  readonly status: string;
}

const newProject = (on: RawClient = client) => on.post<ProjectBody>('/v3/projects', { name: freshName('v3') });
const newPc = (projectId: string, name: string) =>
  client.post<NodeBody>(`/v3/projects/${projectId}/nodes`, { name, node_type: 'vpcs', compute_id: 'local' });

test('a desktop of any 3.x version is answered its own version, and JSON without a charset', async () => {
  for (const version of ['3.0.0', '3.0.6', '3.1.0a4']) {
    const reply = await client.send('GET /v3/version', { headers: { 'user-agent': `GNS3 QT Client v${version}` } });
    assert.equal(reply.status, 200);
    assert.equal(reply.headers['content-type'], 'application/json');
    const answer = reply.json<{ version: string; local: boolean }>();
    assert.equal(answer.version, version);
    assert.equal(typeof answer.local, 'boolean');
  }
  assert.equal((await client.get<{ version: string }>('/v3/version')).version, '3.0.6');
  const { version } = await client.get<{ version: string }>('/v2/version');
  assert.match(version, /^2\.2\./);
});

test('the desktop connects, makes a project, and draws', async () => {
  const headers = { 'user-agent': 'GNS3 QT Client v3.0.6' };
  for (const path of ['templates', 'computes', 'appliances?symbol_theme=Affinity-square-blue', 'projects']) {
    const reply = await client.send(`GET /v3/${path}`, { headers });
    assert.equal(reply.status, 200, path);
    assert.ok(Array.isArray(reply.json<unknown>()), path);
  }
  const feed = await listen(`${server.url}/v3/notifications/ws?token=x`);
  const local = await feed.find(({ action, event }) => action === 'compute.updated' && event.compute_id === 'local', 'the compute');
  assert.equal(local.event.connected, true);
  assert.ok(local.event.capabilities);
  assert.equal((await client.send('GET /v3/symbols/%3A/symbols/affinity/square/blue/router.svg/raw', { headers })).status, 200);

  const { project_id: id } = await newProject();
  const project = await listen(`${server.url}/v3/projects/${id}/notifications/ws?token=x`);
  assert.deepEqual(await client.get(`/v3/projects/${id}/nodes`), []);
  assert.deepEqual(await client.get(`/v3/projects/${id}/links`), []);
  assert.deepEqual(await client.get(`/v3/projects/${id}/drawings`), []);
  assert.equal((await client.send(`GET /v3/projects/${id}/files/README.txt`)).status, 404);
  const templates = await client.get<{ template_id: string; template_type: string; builtin: boolean }[]>('/v3/templates');
  const vpcs = templates.find(({ template_type, builtin }) => builtin && template_type === 'vpcs');
  const pc = await client.post<NodeBody>(`/v3/projects/${id}/templates/${vpcs?.template_id}`, { x: 1, y: 2 });
  const created = await project.find(({ action }) => action === 'node.created', 'the node');
  assert.equal(created.event.node_id, pc.node_id);
  assert.ok('aux' in created.event);

  const started = await client.send(`POST /v3/projects/${id}/nodes/${pc.node_id}/start`, { body: {} });
  assert.equal(started.status, 204);
  assert.equal(started.bytes.length, 0);
  await project.find(({ action, event }) => action === 'node.updated' && event.status === 'started', 'the start');
  const terminal = await openWebSocket(`${server.url}/v3/projects/${id}/nodes/${pc.node_id}/console/ws?token=x`);
  terminal.send('show version\n');
  await terminal.next((message) => Buffer.isBuffer(message) && message.includes('version'), limitMs);
  terminal.close();
  for (const verb of ['suspend', 'reload', 'stop']) {
    const { status } = await client.send(`POST /v3/projects/${id}/nodes/${pc.node_id}/${verb}`, { body: {} });
    assert.equal(status, 204, verb);
  }
  await client.post(`/v3/projects/${id}/close`, {}, 204);
  await feed.find(({ action, event }) => action === 'project.closed' && event.project_id === id, 'the closing');
  await client.delete(`/v3/projects/${id}`);
  await feed.close();
  await project.close();
});

test('the web UI connects and opens a project', async () => {
  const { project_id: id } = await newProject();
  const slash = await client.send('GET /v3/projects/');
  assert.equal(slash.status, 307);
  assert.equal(slash.headers.location, `${server.url}/v3/projects`);
  for (const path of ['version', 'projects', `projects/${id}`])
    assert.equal((await client.send(`GET /v3/${path}`)).status, 200, path);
  for (let times = 0; times < 2; times++) await client.post(`/v3/projects/${id}/open`);
  const parts = [`projects/${id}/nodes`, `projects/${id}/links`, `projects/${id}/drawings`, 'templates', 'symbols', 'computes'];
  for (const path of [...parts, 'statistics', 'symbols/default_symbols'])
    assert.equal((await client.send(`GET /v3/${path}`)).status, 200, path);
  assert.equal(await client.get(`/v3/projects/${id}/locked`), true);
  await newPc(id, 'PC1');
  assert.equal(await client.get(`/v3/projects/${id}/locked`), false);
  await client.post(`/v3/projects/${id}/lock`, {}, 204);
  assert.equal(await client.get(`/v3/projects/${id}/locked`), true);
  const [node] = await client.get<NodeBody[]>(`/v3/projects/${id}/nodes`);
  const locked = await client.send(`DELETE /v3/projects/${id}/nodes/${node?.node_id}`);
  assert.equal(locked.status, 409);
  assert.deepEqual(Object.keys(locked.json()), ['message']);
  await client.post(`/v3/projects/${id}/unlock`, {}, 204);
  const size = await client.get('/v3/symbols/%3A/symbols/affinity/square/blue/router.svg/dimensions');
  assert.deepEqual(Object.keys(size).sort(), ['height', 'width']);
  await client.delete(`/v3/projects/${id}`);
});

test('clients of both generations on one project see each other’s changes', async () => {
  const { project_id: id } = await newProject();
  const [feed2, feed3] = await Promise.all([
    listen(`${server.url}/v2/projects/${id}/notifications/ws`),
    listen(`${server.url}/v3/projects/${id}/notifications/ws`),
  ]);
  const one = await newPc(id, 'PC1');
  const other = await client.post<NodeBody>(`/v2/projects/${id}/nodes`, { name: 'PC2', node_type: 'vpcs', compute_id: 'local' });
  const ends = [one, other].map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 0 }));
  const { link_id: link } = await client.post<{ link_id: string }>(`/v3/projects/${id}/links`, { nodes: ends });
  for (const feed of [feed2, feed3]) {
    for (const node of [one, other])
      await feed.find(({ action, event }) => action === 'node.created' && event.node_id === node.node_id, 'both nodes');
    await feed.find(({ action, event }) => action === 'link.created' && event.link_id === link, 'the link');
  }
  // Drawn by a client of 3, started by one of 2.
  await client.post(`/v2/projects/${id}/nodes/${one.node_id}/start`, {}, 200);
  await feed3.find(({ action, event }) => action === 'node.updated' && event.status === 'started', 'the start');
  await client.post(`/v3/projects/${id}/nodes/${other.node_id}/isolate`, {}, 204);
  await feed2.find(({ action, event }) => action === 'link.updated' && event.suspend === true, 'the isolation');
  await client.post(`/v3/projects/${id}/nodes/${other.node_id}/unisolate`, {}, 204);
  await feed2.find(({ action, event }) => action === 'link.updated' && event.suspend === false, 'the end of it');
  await client.post(`/v3/projects/${id}/nodes/stop`, {}, 204);
  for (const feed of [feed2, feed3]) await feed.close();
  await client.delete(`/v3/projects/${id}`);
});

test('values of neighbouring types are read in /v3 and refused in /v2, and faults have their place', async () => {
  const { project_id: id } = await newProject();
  const drawing = { x: '110', locked: 'yes', svg: '<svg/>', nonsense: 1, rotation: null };
  const made = await client.post<{ x: number; locked: boolean }>(`/v3/projects/${id}/drawings`, drawing);
  assert.deepEqual([made.x, made.locked], [110, true]);
  assert.equal((await client.send(`POST /v2/projects/${id}/drawings`, { body: drawing })).status, 400);
  const refused = await client.send(`POST /v3/projects/${id}/drawings`, { body: { x: 1.5, z: [], rotation: 400 } });
  assert.equal(refused.status, 422);
  const { message } = refused.json<{ message: string }>();
  for (const fault of [
    "{'type': 'int_from_float', 'loc': ('body', 'x')",
    "{'type': 'int_type', 'loc': ('body', 'z')",
    "{'type': 'less_than_equal', 'loc': ('body', 'rotation')",
  ])
    assert.ok(message.includes(fault), message);
  for (const [line, status, key] of [
    ['GET /v3/nothing', 404, 'detail'],
    ['DELETE /v3/version', 405, 'detail'],
    ['GET /v3/projects/not-an-id', 422, 'message'],
    [`GET /v3/projects/${'0'.repeat(32)}`, 404, 'message'],
    ['POST /v3/projects', 422, 'message'],
  ] as const) {
    const reply = await client.send(line);
    assert.equal(reply.status, status, line);
    assert.deepEqual(Object.keys(reply.json()), [key], line);
  }
  assert.equal((await client.send('HEAD /v3/version')).status, 405);
  const secret = await client.send('POST /v3/computes', { body: { password: 'not to be seen', host: 1 } });
  assert.equal(secret.status, 422);
  assert.doesNotMatch(secret.text(), /not to be seen/);
  await client.delete(`/v3/projects/${id}`);
});

test('a link to a cloud names its tunnel, and a reset leaves a link as it was', async () => {
  const { project_id: id } = await newProject();
  const ports_mapping = [{ name: 'tunnel', port_number: 0, type: 'udp', lport: 20_001, rhost: '127.0.0.1', rport: 20_002 }];
  const body = { name: 'Cloud', node_type: 'cloud', compute_id: 'local', properties: { ports_mapping } };
  const cloud = await client.post<NodeBody>(`/v3/projects/${id}/nodes`, body);
  const pc = await newPc(id, 'PC1');
  const nodes = [cloud, pc].map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 0 }));
  const { link_id: link } = await client.post<{ link_id: string }>(`/v3/projects/${id}/links`, { nodes });
  const uplink = { node_id: cloud.node_id, type: 'udp', lport: 20_001, rhost: '127.0.0.1', rport: 20_002 };
  assert.deepEqual(await client.get(`/v3/projects/${id}/links/${link}/iface`), uplink);
  const { suspend } = await client.post<{ suspend: boolean }>(`/v3/projects/${id}/links/${link}/reset`, {}, 200);
  assert.equal(suspend, false);
  await client.delete(`/v3/projects/${id}`);
});
