/** Sharing of a project, and questions of an account about its own rights. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expectStatus, RawClient } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createProject, type ProjectHandle } from '../support/with-server.ts';

interface Access {
  readonly may_change: boolean;
  readonly may_read: boolean;
  readonly ask: readonly string[];
  readonly pools: readonly { readonly name: string }[];
  readonly entries: readonly {
    readonly name: string;
    readonly role: string;
    readonly level: string | null;
    readonly is_own: boolean;
    readonly applies: boolean;
  }[];
}

const boss = { user: 'boss', password: 'of the configuration' };
const basic = ({ user, password }: typeof boss) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

let server: RunningServer;
let admin: RawClient;
let project: ProjectHandle;
let other: ProjectHandle;
const clients = new Map<string, RawClient>();
const clientOf = (name: string) => clients.get(name) as RawClient;
const ids = new Map<string, string>();
let access: string;

before(async () => {
  server = await startServer({ config: { Server: { auth: true, ...boss } } });
  admin = new RawClient(server.url, basic(boss));
  for (const user of ['viewer', 'worker', 'manager', 'outsider']) {
    const password = `password-of-${user}`;
    const { user_id } = await admin.post<{ user_id: string }>('/v3/access/users', { username: user, password });
    ids.set(user, user_id);
    clients.set(user, new RawClient(server.url, basic({ user, password })));
  }
  project = await createProject(admin, { name: 'shared' });
  other = await createProject(admin, { name: 'other' });
  access = `/v3/projects/${project.id}/access`;
});
after(() => server.stop());

const share = (client: RawClient, name: string, level: string, ace_type = 'user') =>
  client.send(`PUT ${access}`, { body: { ace_type, name, level } });
const roleId = async (wanted: string) =>
  (await admin.get<{ name: string; role_id: string }[]>('/v3/access/roles')).find(({ name }) => name === wanted)?.role_id;

test('a level is a role on the path of the project, and acts at once', async () => {
  const viewer = clientOf('viewer');
  expectStatus(await viewer.send(`GET ${project.path}`), 404);
  expectStatus(await share(admin, 'viewer', 'view'), 200);
  expectStatus(await viewer.send(`GET ${project.path}`), 200);
  expectStatus(await viewer.send(`PUT ${project.path}`, { body: { name: 'mine' } }), 403);
  expectStatus(await share(admin, 'viewer', 'work'), 200);
  expectStatus(await viewer.send(`PUT ${project.path}`, { body: { name: 'shared' } }), 200);
  const answer = expectStatus(await share(admin, 'viewer', 'view'), 200).json<Access>();
  assert.deepEqual(
    answer.entries.map(({ name, role, level, is_own, applies }) => ({ name, role, level, is_own, applies })),
    [{ name: 'viewer', role: 'Auditor', level: 'view', is_own: true, applies: true }],
  );
  assert.equal((await admin.get<unknown[]>('/v3/access/acl')).length, 1);
  expectStatus(await share(admin, 'viewer', 'none'), 200);
  expectStatus(await viewer.send(`GET ${project.path}`), 404);
  assert.equal((await admin.get<unknown[]>('/v3/access/acl')).length, 0);
});

test('a group is given a role as a user is', async () => {
  const { user_group_id } = await admin.post<{ user_group_id: string }>('/v3/access/groups', { name: 'class' });
  expectStatus(await admin.send(`PUT /v3/access/groups/${user_group_id}/members/${ids.get('worker')}`), 204);
  expectStatus(await share(admin, 'class', 'work', 'group'), 200);
  expectStatus(await clientOf('worker').send(`PUT ${project.path}`, { body: { name: 'shared' } }), 200);
  expectStatus(await share(admin, 'class', 'none', 'group'), 200);
  expectStatus(await clientOf('worker').send(`GET ${project.path}`), 404);
});

test('an account that sees a project is shown its own possibilities and whom to ask, and no other account', async () => {
  expectStatus(await share(admin, 'viewer', 'view'), 200);
  expectStatus(await share(admin, 'worker', 'work'), 200);
  const answer = await clientOf('viewer').get<Access>(access);
  assert.deepEqual(answer, {
    project_id: project.id,
    may_change: false,
    may_read: false,
    ask: ['boss'],
    pools: [],
    entries: [],
  });
  expectStatus(await share(clientOf('worker'), 'outsider', 'view'), 403);
  expectStatus(await clientOf('outsider').send(`GET ${access}`), 403);
  expectStatus(await share(clientOf('outsider'), 'outsider', 'manage'), 403);
});

test('who manages a project shares it within the own rights, and leaves entries of the access list alone', async () => {
  const manager = clientOf('manager');
  expectStatus(await share(admin, 'manager', 'manage'), 200);
  assert.deepEqual((await clientOf('viewer').get<Access>(access)).ask, ['boss', 'manager']);
  expectStatus(await share(manager, 'outsider', 'manage'), 200);
  expectStatus(await share(manager, 'outsider', 'none'), 200);
  const foreign = { ace_type: 'user', name: 'outsider', level: 'view' };
  expectStatus(await manager.send(`PUT /v3/projects/${other.id}/access`, { body: foreign }), 403);
  expectStatus(await manager.send('GET /v3/access/acl'), 403);
  // A refusal, which only the access list can lift.
  const entry = { ace_type: 'user', user_id: ids.get('outsider'), path: `/projects/${project.id}`, allowed: false };
  await admin.post('/v3/access/acl', { ...entry, role_id: await roleId('User') });
  const refused = expectStatus(await share(manager, 'outsider', 'work'), 403);
  assert.match(refused.text(), /The entry of 'outsider' was made in the access list/);
  expectStatus(await clientOf('outsider').send(`GET ${project.path}`), 404);
  expectStatus(await share(admin, 'outsider', 'none'), 200);
  // A role that shares and cannot change the project gives no role that can.
  const { role_id } = await admin.post<{ role_id: string }>('/v3/access/roles', { name: 'sharer' });
  const privileges = await admin.get<{ name: string; privilege_id: string }[]>('/v3/access/privileges');
  for (const { privilege_id } of privileges.filter(({ name }) => name === 'ACE.Allocate' || name.endsWith('.Audit')))
    expectStatus(await admin.send(`PUT /v3/access/roles/${role_id}/privileges/${privilege_id}`), 204);
  const sharer = { ace_type: 'user', user_id: ids.get('outsider'), path: `/projects/${project.id}`, role_id };
  await admin.post('/v3/access/acl', sharer);
  expectStatus(await share(clientOf('outsider'), 'viewer', 'view'), 200);
  assert.match(expectStatus(await share(clientOf('outsider'), 'viewer', 'work'), 403).text(), /You cannot give 'work'/);
  expectStatus(await share(admin, 'outsider', 'none'), 200);
});

test('the entries of a pool decide for its projects, and those on the project are marked', async () => {
  const pool = await admin.post<{ resource_pool_id: string }>('/v3/pools', { name: 'course' });
  expectStatus(await admin.send(`PUT /v3/pools/${pool.resource_pool_id}/resources/${project.id}`), 204);
  const answer = await admin.get<Access>(access);
  assert.deepEqual(
    answer.pools.map(({ name }) => name),
    ['course'],
  );
  assert.ok(answer.entries.length > 0);
  assert.ok(answer.entries.every(({ applies }) => !applies));
  expectStatus(await clientOf('viewer').send(`GET ${project.path}`), 404);
  expectStatus(await admin.send(`DELETE /v3/pools/${pool.resource_pool_id}`), 204);
  expectStatus(await clientOf('viewer').send(`GET ${project.path}`), 200);
});

test('wrong requests change nothing and say why', async () => {
  const entries = await admin.get<unknown[]>('/v3/access/acl');
  assert.match(expectStatus(await share(admin, 'missing', 'view'), 404).text(), /The user 'missing' does not exist/);
  assert.match(expectStatus(await share(admin, 'viewer', 'view', 'group'), 404).text(), /The group 'viewer' does not exist/);
  assert.match(expectStatus(await share(admin, 'boss', 'view'), 403).text(), /super admin/);
  expectStatus(await share(admin, 'viewer', 'own'), 422);
  expectStatus(await admin.send(`GET /v3/projects/${crypto.randomUUID()}/access`), 404);
  assert.deepEqual(await admin.get<unknown[]>('/v3/access/acl'), entries);
});

test('an account reads its privileges on paths, with those on what lies below', async () => {
  interface Rights {
    readonly username: string;
    readonly is_administrator: boolean;
    readonly rights: readonly {
      readonly path: string;
      readonly privileges: readonly string[];
      readonly below: readonly string[];
    }[];
  }
  const rightsOf = (name: string, paths: string) => clientOf(name).get<Rights>(`/v3/access/users/me/rights?paths=${paths}`);
  const path = `/projects/${project.id}`;
  const { username, is_administrator, rights } = await rightsOf('viewer', `${path},/templates,/projects`);
  assert.deepEqual([username, is_administrator], ['viewer', false]);
  const [onProject, onTemplates, onProjects] = rights.map(({ privileges }) => privileges);
  assert.deepEqual([onProjects, onTemplates, rights[0]?.below], [[], [], []]);
  assert.deepEqual(rights[2]?.below, onProject);
  assert.ok(onProject?.includes('Node.Audit') && !onProject.includes('Node.Modify'));
  assert.equal((await admin.get<Rights>('/v3/access/users/me/rights')).rights[0]?.privileges.length, 45);
  for (const wrong of ['projects', Array(21).fill('/').join(','), `/${'x'.repeat(1000)}`])
    expectStatus(await clientOf('viewer').send(`GET /v3/access/users/me/rights?paths=${wrong}`), 422);
});

test('an account is explained its own refusals, and whom to ask', async () => {
  const path = `/v3/access/users/me/explain/POST${project.path}/nodes`;
  const answer = await clientOf('viewer').get<Record<string, unknown>>(path);
  assert.deepEqual(answer, {
    username: 'viewer',
    allowed: false,
    right: 'Node.Allocate',
    reasons: [
      {
        privilege: 'Node.Allocate',
        path: `/projects/${project.id}/nodes`,
        allowed: false,
        sentence: `No entry with Node.Allocate applies to /projects/${project.id}/nodes.`,
      },
    ],
    ask: ['boss', 'manager'],
  });
  expectStatus(await clientOf('viewer').send('GET /v3/access/users/me/explain/POST/v2/nothing'), 400);
});

test('a feed announces changes of rights only to those who ask for it', async () => {
  const open = (query: string) =>
    openWebSocket(`${server.url}/v2/notifications/ws${query}`, basic({ user: 'viewer', password: 'password-of-viewer' }));
  const [plain, asked] = await Promise.all([open(''), open('?access=true')]);
  expectStatus(await share(admin, 'viewer', 'work'), 200);
  await asked.next((message) => String(message).includes('access.updated'));
  await admin.put(project.path, { name: 'renamed' });
  await plain.next((message) => String(message).includes('renamed'));
  assert.ok(!plain.messages.some((message) => String(message).includes('access.updated')));
  for (const socket of [plain, asked]) {
    socket.close();
    await socket.closed;
  }
});

test('super admins are made and dismissed by super admins only, which acts on tokens, too', async () => {
  const path = `/v3/access/users/${ids.get('outsider')}`;
  const outsider = clientOf('outsider');
  await admin.post('/v3/access/acl', {
    ...{ ace_type: 'user', user_id: ids.get('manager'), path: '/', role_id: await roleId('User manager') },
  });
  const refused = expectStatus(await clientOf('manager').send(`PUT ${path}`, { body: { is_superadmin: true } }), 403);
  assert.match(refused.text(), /Only a super admin/);
  expectStatus(await outsider.send('GET /v3/access/users'), 403);
  await admin.put(path, { is_superadmin: true });
  expectStatus(await outsider.send('GET /v3/access/users'), 200);
  const { token } = await outsider.post<{ token: string }>('/v3/access/users/me/tokens', { name: 'all' });
  const headers = { authorization: `Bearer ${token}` };
  expectStatus(await new RawClient(server.url, headers).send('GET /v3/access/users'), 200);
  const socket = await openWebSocket(`${server.url}${project.path}/notifications/ws`, headers);
  await admin.put(path, { is_superadmin: false });
  await socket.closed;
  expectStatus(await new RawClient(server.url, headers).send('GET /v3/access/users'), 403);
  expectStatus(await outsider.send('GET /v3/access/users'), 403);
  const users = await admin.get<{ username: string; user_id: string }[]>('/v3/access/users');
  const own = users.find(({ username }) => username === boss.user)?.user_id;
  expectStatus(await admin.send(`PUT /v3/access/users/${own}`, { body: { is_superadmin: false } }), 403);
});
