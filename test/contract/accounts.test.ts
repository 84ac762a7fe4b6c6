/** Accounts on a running server: what each sees in both generations of the API, and that a login that ends takes its streams along. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expectStatus, RawClient } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle } from '../support/with-server.ts';

const boss = { user: 'boss', password: 'of the configuration' };
const erin = { user: 'erin', password: 'erins-password' };
const basic = ({ user, password }: typeof boss) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

let server: RunningServer;
/** Clients of both accounts, with HTTP Basic. */
let admin: RawClient;
let user: RawClient;
let userId: string;
let hers: ProjectHandle;
let other: ProjectHandle;

before(async () => {
  server = await startServer({ config: { Server: { auth: true, ...boss }, Qemu: { acceleration: 'off' } } });
  admin = new RawClient(server.url, basic(boss));
  user = new RawClient(server.url, basic(erin));
  const made = await admin.post<{ user_id: string }>('/v3/access/users', { username: erin.user, password: erin.password });
  userId = made.user_id;
  hers = await createProject(admin, { name: 'hers' });
  other = await createProject(admin, { name: 'other' });
  const roles = await admin.get<{ name: string; role_id: string }[]>('/v3/access/roles');
  const role_id = roles.find(({ name }) => name === 'User')?.role_id;
  const path = `/projects/${hers.id}`;
  await admin.post('/v3/access/acl', { ace_type: 'user', user_id: userId, path, role_id });
});
after(() => server.stop());

async function tokenOf(login: typeof boss): Promise<string> {
  const body = { username: login.user, password: login.password };
  const reply = await new RawClient(server.url).send('POST /v3/access/users/authenticate', { body });
  return expectStatus(reply, 200).json<{ access_token: string }>().access_token;
}

/** Resolves when a streamed answer has ended, for whatever reason. */
async function readToEnd(path: string): Promise<{ readonly ended: Promise<void> }> {
  const answer = await fetch(`${server.url}${path}`, { headers: basic(erin) });
  assert.equal(answer.status, 200, path);
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const drain = async () => {
    while (!(await reader.read()).done);
  };
  return { ended: drain().catch(() => undefined) };
}

test('an account sees its projects only, and no difference between foreign and missing ones', async () => {
  const missing = '00000000-0000-4000-8000-000000000000';
  for (const version of ['v2', 'v3']) {
    const listed = await user.get<{ name: string }[]>(`/${version}/projects`);
    assert.deepEqual(
      listed.map(({ name }) => name),
      ['hers'],
    );
    const [foreign, none] = await Promise.all([other.id, missing].map((id) => user.send(`GET /${version}/projects/${id}`)));
    const status = version === 'v2' ? 404 : 403;
    expectStatus(foreign as never, status);
    assert.equal(foreign?.text().replaceAll(other.id, missing), none?.text());
    expectStatus(await user.send(`GET /${version}/projects/${hers.id}`), 200);
  }
  expectStatus(await user.send('POST /v2/projects', { body: { name: 'third' } }), 403);
  expectStatus(await user.send('GET /v2/compute/projects'), 403);
});

test('who may make projects is answered none of others, and names no folder of the host', async () => {
  const maker = { user: 'maker', password: 'makers-password' };
  const { user_id } = await admin.post<{ user_id: string }>('/v3/access/users', { username: maker.user, password: maker.password });
  const { role_id } = await admin.post<{ role_id: string }>('/v3/access/roles', { name: 'maker' });
  const privileges = await admin.get<{ name: string; privilege_id: string }[]>('/v3/access/privileges');
  for (const { privilege_id } of privileges.filter(({ name }) => name === 'Project.Allocate'))
    expectStatus(await admin.send(`PUT /v3/access/roles/${role_id}/privileges/${privilege_id}`), 204);
  await admin.post('/v3/access/acl', { ace_type: 'user', user_id, path: '/projects', role_id });
  const client = new RawClient(server.url, basic(maker));
  const file = `${(await admin.get<{ path: string }>(`/v2/projects/${other.id}`)).path}/other.gns3`;
  for (const version of ['v2', 'v3']) {
    await client.post(`/${version}/projects`, { name: `of ${version}` });
    for (const [line, ask] of [
      ['POST projects', { body: { name: 'same', project_id: other.id } }],
      [`POST projects/${other.id}/duplicate`, { body: { name: 'copy' } }],
      ['POST projects/load', { body: { path: file } }],
      ['POST projects/load', { body: { path: file, copy: true } }],
      [`POST projects/${version === 'v2' ? crypto.randomUUID() : other.id}/import?path=/tmp/imported`, { raw: 'no archive' }],
    ] as const) {
      const answer = await client.send(line.replace(' ', ` /${version}/`), ask);
      assert.ok([403, 404].includes(answer.status), `${line}: ${answer.status} ${answer.text()}`);
    }
  }
  expectStatus(await client.send('POST /v2/projects', { body: { name: 'elsewhere', path: '/tmp/elsewhere' } }), 403);
});

test('a feed shows an account nothing of projects that it may not see', async () => {
  const socket = await openWebSocket(`${server.url}/v3/notifications/ws?token=${await tokenOf(erin)}`);
  await admin.put(`/v2/projects/${other.id}`, { name: 'renamed' });
  await admin.put(`/v2/projects/${hers.id}`, { name: 'still hers' });
  await socket.next((message) => String(message).includes('still hers'));
  assert.deepEqual(
    socket.messages.filter((message) => String(message).includes(other.id)),
    [],
  );
  socket.close();
  await socket.closed;
});

test('WebSockets of /v3 are refused without a token, and closed with a wrong one', async () => {
  const url = `${server.url}/v3/projects/${hers.id}/notifications/ws`;
  await assert.rejects(openWebSocket(url));
  const socket = await openWebSocket(`${url}?token=wrong`);
  assert.match(String(await socket.next(() => true)), /log\.error/);
  assert.equal(await socket.closed, 1008);
});

test('streams, consoles and captures end with the login, and a later login opens them again', async () => {
  const nodes: NodeBody[] = [];
  for (const _ of [1, 2]) nodes.push(await createNode(admin, hers));
  const { link_id } = await admin.post<{ link_id: string }>(`${hers.path}/links`, { nodes: nodes.map((node) => end(node)) });
  await admin.post(`${hers.path}/nodes/start`, {}, 204);
  await user.post(`${hers.path}/links/${link_id}/start_capture`, {}, 201);
  const open = async () => {
    const token = await tokenOf(erin);
    const ofProject = `/v3/projects/${hers.id}`;
    const sockets = [`${ofProject}/notifications/ws`, `${ofProject}/nodes/${nodes[0]?.node_id}/console/ws`, '/v3/notifications/ws'];
    const streams = [`${hers.path}/notifications`, `${hers.path}/links/${link_id}/pcap`, '/v2/notifications'];
    const opened = await Promise.all(sockets.map((path) => openWebSocket(`${server.url}${path}?token=${token}`)));
    const read = await Promise.all(streams.map(readToEnd));
    let ended = 0;
    for (const done of [...opened.map(({ closed }) => closed), ...read.map(({ ended: atEnd }) => atEnd)])
      void (done as Promise<unknown>).then(() => {
        ended += 1;
      });
    return { token, count: sockets.length + streams.length, ended: () => ended };
  };
  const path = `/v3/access/users/${userId}`;
  for (const change of [{ is_active: false }, { password: 'another-password' }]) {
    const first = await open();
    assert.equal(first.ended(), 0);
    await admin.put(path, change);
    await waitFor(() => first.ended() === first.count, { what: `the end of all ${first.count} streams` });
    const headers = { authorization: `Bearer ${first.token}` };
    expectStatus(await new RawClient(server.url).send('GET /v3/projects', { headers }), 401);
    expectStatus(await user.send('GET /v2/projects'), 401);
    await admin.put(path, { is_active: true, password: erin.password });
    expectStatus(await user.send('GET /v2/projects'), 200);
  }
});

test('a request that ends its own login is answered', async () => {
  const bearer = new RawClient(server.url, { authorization: `Bearer ${await tokenOf(erin)}` });
  expectStatus(await bearer.send('POST /v3/access/users/logout'), 204);
  expectStatus(await bearer.send('GET /v3/access/users/me'), 401);
  expectStatus(await user.send('PUT /v3/access/users/me', { body: { password: 'another-password' } }), 200);
  expectStatus(await user.send('GET /v3/access/users/me'), 401);
  await admin.put(`/v3/access/users/${userId}`, { password: erin.password });
});

test('accounts, rights and tokens survive a server that is killed', async () => {
  const { token } = await user.post<{ token: string }>('/v3/access/users/me/tokens', {
    name: 'script',
    privileges: ['Project.Audit', 'Node.Audit'],
  });
  const access = await tokenOf(erin);
  await server.kill9();
  await server.restart();
  const bearer = (text: string) => new RawClient(server.url, { authorization: `Bearer ${text}` });
  assert.equal((await bearer(access).get<unknown[]>('/v3/projects')).length, 1);
  assert.equal((await bearer(token).get<unknown[]>(`${hers.path}/nodes`)).length, 2);
  expectStatus(await bearer(token).send(`POST ${hers.path}/nodes/start`, { body: {} }), 403);
  const asPassword = new RawClient(server.url, basic({ user: erin.user, password: token }));
  assert.equal((await asPassword.get<unknown[]>(`${hers.path}/nodes`)).length, 2);
});

test('a copy of a project joins its pools, and who may make projects in one of them may copy it', async () => {
  const paula = { user: 'paula', password: 'paulas-password' };
  const { user_id } = await admin.post<{ user_id: string }>('/v3/access/users', { username: paula.user, password: paula.password });
  const pooled = await createProject(admin, { name: 'pooled' });
  const { resource_pool_id } = await admin.post<{ resource_pool_id: string }>('/v3/pools', { name: 'of paula' });
  const resources = `/v3/pools/${resource_pool_id}/resources`;
  expectStatus(await admin.send(`PUT ${resources}/${pooled.id}`), 204);
  const copier = new RawClient(server.url, basic(paula));
  const copy = (version: string, fields: object = {}) =>
    copier.send(`POST /${version}/projects/${pooled.id}/duplicate`, { body: { name: `copy ${version}`, ...fields } });
  expectStatus(await copy('v3'), 403);
  const roles = await admin.get<{ name: string; role_id: string }[]>('/v3/access/roles');
  const role_id = roles.find(({ name }) => name === 'User')?.role_id;
  const path = `/pools/${resource_pool_id}`;
  await admin.post('/v3/access/acl', { ace_type: 'user', user_id, path, role_id });
  const foreign = expectStatus(await copier.send('POST /v3/projects', { body: { name: 'outside' } }), 403);
  assert.match(foreign.text(), /Project\.Allocate/);
  const ids = [
    expectStatus(await copy('v3'), 201).json<{ project_id: string }>().project_id,
    expectStatus(await copy('v2'), 201).json<{ project_id: string }>().project_id,
    expectStatus(await copy('v2', { name: 'chosen', project_id: userId }), 201).json<{ project_id: string }>().project_id,
  ];
  const seen = async () => (await copier.get<{ project_id: string }[]>('/v2/projects')).map(({ project_id }) => project_id).sort();
  assert.deepEqual(await seen(), [pooled.id, ...ids].sort());
  const members = async () => (await admin.get<{ resource_id: string }[]>(resources)).map(({ resource_id }) => resource_id).sort();
  assert.deepEqual(await members(), [pooled.id, ...ids].sort());
  // An id that is taken moves no project into the pool.
  expectStatus(await copy('v2', { name: 'stolen', project_id: hers.id }), 409);
  assert.deepEqual(await members(), [pooled.id, ...ids].sort());
  expectStatus(await user.send(`GET /v2/projects/${ids[0]}`), 404);
  copier.close();
});

test('the list of tokens says when each was used last', async () => {
  const listed = () => user.get<{ name: string; last_used_at: string | null }[]>('/v3/access/users/me/tokens');
  const { token } = await user.post<{ token: string; last_used_at: null }>('/v3/access/users/me/tokens', { name: 'noted' });
  const lastUse = async () => (await listed()).find(({ name }) => name === 'noted')?.last_used_at;
  assert.equal(await lastUse(), null);
  const before = new Date().toISOString().slice(0, 19);
  expectStatus(await new RawClient(server.url, { authorization: `Bearer ${token}` }).send('GET /v3/access/users/me'), 200);
  const noted = await lastUse();
  assert.ok(typeof noted === 'string' && noted >= before && noted <= new Date().toISOString(), String(noted));
  // The answer to a later change means that the note is on disk, too.
  await user.post('/v3/access/users/me/tokens', { name: 'later' });
  await server.kill9();
  await server.restart();
  assert.equal(await lastUse(), noted);
});

test('a list follows changes of rights, projects and names at once', async () => {
  const listed = async () => (await user.get<{ name: string }[]>('/v3/projects')).map(({ name }) => name).sort();
  const before = await listed();
  assert.deepEqual(await listed(), before);
  const late = await createProject(admin, { name: 'late' });
  assert.deepEqual(await listed(), before);
  const roles = await admin.get<{ name: string; role_id: string }[]>('/v3/access/roles');
  const role_id = roles.find(({ name }) => name === 'User')?.role_id;
  const entry = { ace_type: 'user', user_id: userId, path: `/projects/${late.id}`, role_id };
  const { ace_id } = await admin.post<{ ace_id: string }>('/v3/access/acl', entry);
  assert.deepEqual(await listed(), [...before, 'late'].sort());
  await admin.put(`/v3/projects/${late.id}`, { name: 'later' });
  assert.deepEqual(await listed(), [...before, 'later'].sort());
  expectStatus(await admin.send(`DELETE /v3/access/acl/${ace_id}`), 204);
  assert.deepEqual(await listed(), before);
});
