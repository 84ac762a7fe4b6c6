/**
 * The matrix of rights: each route of the program, asked by each kind of account for a project of its own, a shared, a foreign and a
 * missing one. The server's own login and check of rights answer; what a route does is replaced. What must come out follows from the
 * declared right by a second, plain reading of the rules.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { labRoutes } from '../../lab/lab-routes.ts';
import { RoutesApi } from '../../lab/state/routes-api.ts';
import { needsOf, rightOf } from '../../src/api/rights.ts';
import { Answer, type Route } from '../../src/api/route.ts';
import { Tickets } from '../../src/api/tickets.ts';
import { HostCompute } from '../../src/compute/compute.ts';
import { Controller } from '../../src/controller/controller.ts';
import { controllerRoutes } from '../../src/controller/routes/v2/routes.ts';
import { computePartRoutes } from '../../src/controller/routes/v3/compute-part.ts';
import { controllerRoutes3 } from '../../src/controller/routes/v3/routes.ts';
import { demoLabRoute } from '../../src/demo-lab.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { fixedId } from '../../src/lib/fixed-id.ts';
import { Accounts } from '../../src/people/accounts.ts';
import { builtinRoles } from '../../src/people/built-in.ts';
import type { EntryRecord } from '../../src/people/records.ts';
import { peopleRoutes } from '../../src/people/routes/people-routes.ts';
import { PeopleStore } from '../../src/people/store.ts';
import type { Privilege } from '../../src/schema/privilege.ts';
import { privileges } from '../../src/schema/privilege.ts';
import { readSettings } from '../../src/settings.ts';

const times = { created_at: '', updated_at: '' };
const projects = {
  own: '11111111-1111-4111-8111-111111111111',
  shared: '22222222-2222-4222-8222-222222222222',
  foreign: '33333333-3333-4333-8333-333333333333',
  missing: '44444444-4444-4444-8444-444444444444',
} as const;
const pool = '55555555-5555-4555-8555-555555555555';

let folder: string;
let app: FastifyInstance;
let routes: readonly Route[];
let entries: readonly EntryRecord[];
/** Name of an account to its token; undefined: no login. */
const tokens = new Map<string, string | undefined>();
let end: () => Promise<void>;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-matrix-'));
  const log = pino({ level: 'silent' });
  const common = { settings: await readSettings({ dataDirectory: folder }), log, version: '2.2.0' };
  const compute = await HostCompute.open({ ...common, findings: async () => [] });
  const controller = await Controller.open({ ...common, compute, end: () => undefined });
  const store = await PeopleStore.open(folder);
  const accounts = await Accounts.open(store, { configured: { user: 'boss', password: 'x' } });
  const own = controllerRoutes(controller);
  routes = [
    ...own,
    ...controllerRoutes3(controller, own),
    ...computePartRoutes(compute.routes()),
    ...compute.routes(),
    ...peopleRoutes(accounts, { routes: () => routes, projects: async () => [], templates: () => [] }),
    ...labRoutes(new RoutesApi(own), () => undefined),
    new Tickets().route(),
    demoLabRoute(common.settings),
  ];
  await makeAccounts(accounts);
  entries = store.list('entry');
  const fake = routes.map((route): Route => {
    const { body: _, raw: __, fillsDisk: ___, ...spec } = route.spec;
    return { ...route, spec, handle: () => new Answer(200, 'reached') };
  });
  app = await createHttpServer({
    routes: fake,
    log,
    serverHeader: 'x',
    allowedOrigins: [],
    credentials: { authenticator: accounts, tickets: new Tickets(), openConsoles: false },
  });
  end = async () => {
    await app.close();
    await controller.close();
    await compute.stop();
    await store.close();
  };
});
after(async () => {
  await end?.();
  await rm(folder, { recursive: true, force: true });
});

/** Makes an account of each built-in role on `/`, one without entries, an owner, a member of the pool, and one whose logins were ended. */
async function makeAccounts(accounts: Accounts): Promise<void> {
  const { store } = accounts;
  const give = async (name: string, role: string | undefined, path: string) => {
    const common = { email: null, full_name: null, is_active: true, is_superadmin: false, last_login: null, hash: '' };
    const user = await store.put('user', { user_id: `user ${name}`, username: name, ...common, token_version: 0, ...times });
    if (role !== undefined) {
      const entry = { ace_id: `entry ${name}`, ace_type: 'user' as const, path, propagate: true, allowed: true, group_id: null };
      await store.put('entry', { ...entry, user_id: user.user_id, role_id: fixedId(`role ${role}`), ...times });
    }
    tokens.set(name, (await accounts.tokensOf(user)).access_token);
    return user;
  };
  for (const role of Object.keys(builtinRoles)) await give(role, role, '/');
  await give('nobody', undefined, '/');
  await give('owner', 'User', `/projects/${projects.own}`);
  await give('member', 'User', `/pools/${pool}`);
  const stale = await give('stale', 'Administrator', '/');
  await store.put('user', { ...stale, token_version: 1 });
  tokens.set('boss', (await accounts.tokensOf(accounts.administrator)).access_token);
  tokens.set('anonymous', undefined);
  await store.put('pool', { resource_pool_id: pool, name: 'pool', projects: [{ project_id: projects.shared, at: '' }], ...times });
}

/** Whether an account has a privilege on a path, by the words of the rules: no index, no groups. */
function has(account: string, privilege: Privilege, path: string): boolean {
  if (account === 'boss') return true;
  // A copy is made in the pools of its project, or beside the others.
  const [, copied] = /^\/copies\/(.*)$/.exec(path) ?? [];
  if (copied !== undefined)
    return has(account, privilege, '/projects') || (copied === projects.shared && has(account, privilege, `/projects/${copied}`));
  const roleOf = (entry: EntryRecord) => Object.entries(builtinRoles).find(([name]) => fixedId(`role ${name}`) === entry.role_id);
  const own = entries.filter((one) => one.user_id === `user ${account}` && roleOf(one)?.[1].privileges.includes(privilege));
  if (`${path}/`.startsWith(`/projects/${projects.shared}/`)) return own.some((one) => one.path === `/pools/${pool}`);
  return own.some((one) => one.path === '/' || `${path}/`.startsWith(`${one.path}/`));
}

type Outcome = 'reached' | 401 | 403 | 404;

function expected(route: Route, params: Readonly<Record<string, string>>, account: string): Outcome {
  const match = { route, params };
  const right = rightOf(match);
  if (right === 'open' || right === 'secret') return 'reached';
  if (account === 'anonymous' || account === 'stale') return 401;
  if (right === 'login') return 'reached';
  const isWord = right === 'administrator' || right === 'compute';
  const may = isWord
    ? privileges.every((privilege) => has(account, privilege, '/'))
    : needsOf(match).every(({ privilege, path }) => has(account, privilege, path));
  if (may) return 'reached';
  const { project_id } = params;
  const isHidden = project_id !== undefined && route.template.startsWith('/v2/projects/');
  return isHidden && !has(account, 'Project.Audit', `/projects/${project_id}`) ? 404 : 403;
}

async function ask(route: Route, url: string, account: string): Promise<{ outcome: Outcome | number; text: string }> {
  const token = tokens.get(account);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { statusCode, headers: answered, body } = await app.inject({ method: route.method, url, headers });
  // A WebSocket's route refuses a request without an upgrade after the rights were checked.
  const isReached = statusCode === 200 || answered['x-error-code'] === 'upgrade_required';
  return { outcome: isReached ? 'reached' : statusCode, text: body };
}

it('each route answers each account as its right says', async () => {
  const wrong: string[] = [];
  let asked = 0;
  for (const route of routes) {
    const names = [...route.template.matchAll(/\{(\w+)(?::[^}]*)?\}/g)].map(([, name = '']) => name);
    const ofProject = names.includes('project_id') && route.spec.right !== 'compute';
    for (const project_id of ofProject ? Object.values(projects) : [projects.foreign]) {
      const params = Object.fromEntries(names.map((name) => [name, name === 'project_id' ? project_id : sample(route, name)]));
      const url = route.template.replace(/\{(\w+)(?::[^}]*)?\}/g, (_, name: string) => params[name] ?? '');
      for (const account of tokens.keys()) {
        asked += 1;
        const { outcome, text } = await ask(route, url, account);
        const due = expected(route, params, account);
        if (outcome !== due) wrong.push(`${account}: ${route.method} ${url}: ${outcome}, not ${due}`);
        if (outcome === 404) assert.equal(JSON.parse(text).message, `Project ID ${project_id} doesn't exist`);
      }
    }
  }
  assert.deepEqual(wrong.slice(0, 20), []);
  assert.ok(asked > 5_000, `${asked} requests`);
});

/** Returns a value that the route's parameter matches. */
function sample({ template }: Route, name: string): string {
  const [, expression] = new RegExp(`\\{${name}:([^}]*)\\}`).exec(template) ?? [];
  const id = '66666666-6666-4666-8666-666666666666';
  const values = name.endsWith('_id') ? [id, '0', 'x'] : ['x', id, '0', '1'];
  return values.find((value) => expression === undefined || new RegExp(`^(?:${expression})$`).test(value)) ?? 'x';
}
