/** `/v3/access/acl` and `/v3/pools`. */
import { randomUUID } from 'node:crypto';
import { fault } from '../../api/faults.ts';
import { pathTemplate } from '../../api/rights.ts';
import { type Route, route } from '../../api/route.ts';
import { Type } from '../../schema/type.ts';
import type { Accounts } from '../accounts.ts';
import { explainer } from '../explain.ts';
import { type EntryRecord, now, type PoolRecord } from '../records.ts';
import { requireFree } from './role-routes.ts';
import { EntryCreate, EntryObject, EntryPath, Explanation, PoolCreate, PoolObject, PoolResource } from './schemas.ts';

/** Things of the server that entries and pools can name. */
export interface AclPlaces {
  /** The routes of the server. */
  readonly routes: () => readonly Route[];
  readonly projects: () => Promise<readonly { readonly project_id: string; readonly name: string | null }[]>;
  readonly templates: () => readonly { readonly template_id: string; readonly name: string }[];
}

/** Pattern of a UUID of version 4, which GNS3 takes in a path. */
const uuid4 = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

export function aclRoutes(accounts: Accounts, places: AclPlaces): Route[] {
  const { store } = accounts;
  let paths: RegExp | undefined;
  const check = (body: EntryCreate) => {
    paths ??= pathsOf(places.routes());
    return checkEntry(accounts, paths, body);
  };
  return [
    explainRoute(accounts, places),
    route('GET /v3/access/acl', { summary: 'List the entries', right: 'ACE.Audit', reply: Type.Array(EntryObject) }, () =>
      store.list('entry'),
    ),
    route(
      'POST /v3/access/acl',
      { summary: 'Create an entry', right: 'ACE.Allocate', body: EntryCreate, status: 201, reply: EntryObject },
      ({ body }) => {
        const at = now();
        return store.put('entry', { ...check(body), ace_id: randomUUID(), created_at: at, updated_at: at });
      },
    ),
    route(
      'GET /v3/access/acl/endpoints',
      { summary: 'List paths for entries', right: 'ACE.Audit', status: 201, reply: Type.Array(EntryPath) },
      () => endpointsOf(accounts, places),
    ),
    route('GET /v3/access/acl/{ace_id}', { summary: 'Get an entry', right: 'ACE.Audit', reply: EntryObject }, ({ path }) =>
      store.get('entry', path.ace_id),
    ),
    route(
      'PUT /v3/access/acl/{ace_id}',
      { summary: 'Replace an entry', right: 'ACE.Modify', body: EntryCreate, reply: EntryObject },
      ({ path, body }) => {
        const { ace_id, created_at } = store.get('entry', path.ace_id);
        return store.put('entry', { ...check(body), ace_id, created_at, updated_at: now() });
      },
    ),
    route('DELETE /v3/access/acl/{ace_id}', { summary: 'Delete an entry', right: 'ACE.Allocate', status: 204 }, ({ path }) =>
      store.remove('entry', store.get('entry', path.ace_id).ace_id),
    ),
  ];
}

/** Checks what an entry names. @throws account_invalid, account_missing */
function checkEntry(
  accounts: Accounts,
  paths: RegExp,
  body: EntryCreate,
): Omit<EntryRecord, 'ace_id' | 'created_at' | 'updated_at'> {
  const { ace_type, path, role_id, propagate, allowed } = body;
  if (path !== '/' && !paths.test(path)) throw fault('account_invalid', { reason: `No route has the path '${path}'` });
  const user_id = body.user_id ?? null;
  const group_id = body.group_id ?? null;
  if ((ace_type === 'user' ? user_id : group_id) === null)
    throw fault('account_invalid', { reason: `An entry of type ${ace_type} needs ${ace_type}_id` });
  if (user_id !== null) accounts.getUser(user_id);
  if (group_id !== null) accounts.store.get('group', group_id);
  accounts.store.get('role', role_id);
  return { ace_type, path, propagate: propagate ?? true, allowed: allowed ?? true, user_id, group_id, role_id };
}

/** Returns the pattern of the paths that entries may have: those of routes, with ids in the place of `{…_id}`. */
function pathsOf(routes: readonly Route[]): RegExp {
  const usable = routes.filter(({ spec }) => spec.right !== 'compute' && spec.right !== 'secret');
  const patterns = new Set(
    usable
      .filter(({ template }) => /^\/v\d\//.test(template))
      .map(({ template }) =>
        pathTemplate(template).replace(/\{(\w+)(?::[^}]*)?\}|[.+]/g, (_, name?: string) => {
          if (name === undefined) return `\\${_}`;
          return name.endsWith('_id') ? uuid4 : '\\w+';
        }),
      ),
  );
  return new RegExp(`^(?:${[...patterns].join('|')})$`);
}

async function endpointsOf(accounts: Accounts, { projects, templates }: AclPlaces) {
  const { store } = accounts;
  const endpoint = (path: string, name: string, endpoint_type: string) => ({ endpoint: path, name, endpoint_type });
  return [
    endpoint('/', 'All endpoints', 'root'),
    endpoint('/projects', 'All projects', 'project'),
    ...(await projects()).map(({ project_id, name }) => endpoint(`/projects/${project_id}`, `Project "${name}"`, 'project')),
    endpoint('/access/users', 'All users', 'user'),
    ...accounts.listUsers().map((user) => endpoint(`/access/users/${user.user_id}`, `User "${user.username}"`, 'user')),
    endpoint('/access/groups', 'All groups', 'group'),
    ...store.list('group').map((group) => endpoint(`/access/groups/${group.user_group_id}`, `Group "${group.name}"`, 'group')),
    endpoint('/access/roles', 'All roles', 'role'),
    ...store.list('role').map((role) => endpoint(`/access/roles/${role.role_id}`, `Role "${role.name}"`, 'role')),
    endpoint('/images', 'All images', 'image'),
    endpoint('/templates', 'All templates', 'template'),
    ...templates().map(({ template_id, name }) => endpoint(`/templates/${template_id}`, `Template "${name}"`, 'template')),
    endpoint('/pools', 'All resource pools', 'pool'),
    ...store.list('pool').map((pool) => endpoint(`/pools/${pool.resource_pool_id}`, `Resource pool "${pool.name}"`, 'pool')),
  ];
}

/** Explains a decision: which entry decided, in one sentence for each privilege. */
function explainRoute(accounts: Accounts, places: AclPlaces): Route {
  const explain = explainer(accounts, places.routes);
  return route(
    'GET /v3/access/acl/explain/{username}/{method}/{target:.+}',
    {
      summary: 'Explain whether a user may send a request, and which entry decides',
      right: 'ACE.Audit /access/acl',
      own: true,
      reply: Explanation,
    },
    ({ path }) => {
      const user = accounts.store.userNamed(path.username) ?? accounts.listUsers().find((one) => one.username === path.username);
      if (!user) throw fault('account_missing', { what: 'user', id: path.username });
      return explain(user, path);
    },
  );
}

export function poolRoutes(accounts: Accounts, places: AclPlaces): Route[] {
  const { store } = accounts;
  const poolOf = (id: string) => store.get('pool', id);
  return [
    route('GET /v3/pools', { summary: 'List the resource pools', right: 'Pool.Audit', reply: Type.Array(PoolObject) }, () =>
      store.list('pool').map(poolObject),
    ),
    route(
      'POST /v3/pools',
      { summary: 'Create a resource pool', right: 'Pool.Allocate', body: PoolCreate, status: 201, reply: PoolObject },
      async ({ body: { name } }) => {
        requireFree('resource pool', store.list('pool'), name);
        const at = now();
        return poolObject(
          await store.put('pool', { resource_pool_id: randomUUID(), name, projects: [], created_at: at, updated_at: at }),
        );
      },
    ),
    route(
      'GET /v3/pools/{resource_pool_id}',
      { summary: 'Get a resource pool', right: 'Pool.Audit', reply: PoolObject },
      ({ path }) => poolObject(poolOf(path.resource_pool_id)),
    ),
    route(
      'PUT /v3/pools/{resource_pool_id}',
      { summary: 'Rename a resource pool', right: 'Pool.Modify', body: PoolCreate, reply: PoolObject },
      async ({ path, body: { name } }) => {
        const pool = poolOf(path.resource_pool_id);
        if (name !== pool.name) requireFree('resource pool', store.list('pool'), name);
        return poolObject(await store.put('pool', { ...pool, name, updated_at: now() }));
      },
    ),
    route(
      'DELETE /v3/pools/{resource_pool_id}',
      { summary: 'Delete a resource pool; its projects stay', right: 'Pool.Allocate', status: 204 },
      ({ path }) => store.remove('pool', poolOf(path.resource_pool_id).resource_pool_id),
    ),
    ...resourceRoutes(accounts, places),
  ];
}

function resourceRoutes({ store }: Accounts, { projects }: AclPlaces): Route[] {
  const poolOf = (id: string) => store.get('pool', id);
  const withProjects = (pool: PoolRecord, members: PoolRecord['projects']) =>
    store.put('pool', { ...pool, projects: members, updated_at: now() }).then(() => undefined);
  return [
    route(
      'GET /v3/pools/{resource_pool_id}/resources',
      { summary: 'List its projects', right: 'Pool.Audit', reply: Type.Array(PoolResource) },
      async ({ path }) => {
        const known = new Map((await projects()).map(({ project_id, name }) => [project_id, name]));
        const members = store.find('pool', path.resource_pool_id)?.projects ?? [];
        return members.flatMap(({ project_id, at }) => {
          const name = known.get(project_id);
          if (name === undefined) return [];
          return [{ resource_id: project_id, resource_type: 'project', name, created_at: at, updated_at: at }];
        });
      },
    ),
    route(
      'PUT /v3/pools/{resource_pool_id}/resources/{resource_id}',
      { summary: 'Add a project', right: 'Pool.Modify', status: 204 },
      async ({ path }) => {
        poolOf(path.resource_pool_id);
        const project = (await projects()).find(({ project_id }) => project_id === path.resource_id);
        if (!project) throw fault('account_missing', { what: 'project', id: path.resource_id });
        const pool = poolOf(path.resource_pool_id);
        const { project_id, name } = { ...project, name: project.name ?? '' };
        if (pool.projects.some((one) => one.project_id === project_id)) throw fault('account_taken', { what: 'resource', name });
        return withProjects(pool, [...pool.projects, { project_id, at: now() }]);
      },
    ),
    route(
      'DELETE /v3/pools/{resource_pool_id}/resources/{resource_id}',
      { summary: 'Remove a project', right: 'Pool.Modify', status: 204 },
      ({ path }) => {
        const pool = poolOf(path.resource_pool_id);
        const left = pool.projects.filter(({ project_id }) => project_id !== path.resource_id);
        if (left.length === pool.projects.length) throw fault('account_missing', { what: 'resource', id: path.resource_id });
        return withProjects(pool, left);
      },
    ),
  ];
}

function poolObject({ projects: _, ...pool }: PoolRecord): Omit<PoolRecord, 'projects'> {
  return pool;
}
