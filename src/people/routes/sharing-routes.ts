/**
 * `/v3/projects/{project_id}/access`: who may see and change a project. It reads the entries of the access list that apply to the
 * project, and writes those on exactly its path that give one of three built-in roles. Accounts may send it that change the access list,
 * and those with `ACE.Allocate` on the project, within their own rights on it.
 */
import { randomUUID } from 'node:crypto';
import { fault } from '../../api/faults.ts';
import { type Caller, canonicalId, unrestricted } from '../../api/rights.ts';
import { type Route, route } from '../../api/route.ts';
import { fixedId } from '../../lib/fixed-id.ts';
import type { Accounts } from '../accounts.ts';
import { builtinRoles } from '../built-in.ts';
import { findManagers } from '../managers.ts';
import { type EntryRecord, now } from '../records.ts';
import type { AclPlaces } from './acl-routes.ts';
import { type AccessLevel, ProjectAccess, ShareChange } from './schemas.ts';

/** AccessLevel to the built-in role that gives it. */
const roleOfLevel = { view: 'Auditor', work: 'User', manage: 'Administrator' } as const;
const levels = Object.keys(roleOfLevel) as AccessLevel[];

export function sharingRoutes(accounts: Accounts, places: AclPlaces): Route[] {
  const projectOf = async (given: string) => {
    const project_id = canonicalId(given);
    if (!(await places.projects()).some((one) => one.project_id === project_id)) throw fault('project_not_found', { project_id });
    return project_id;
  };
  return [
    route(
      'GET /v3/projects/{project_id}/access',
      { summary: 'List who may see and change a project', right: 'Project.Audit', own: true, reply: ProjectAccess },
      async ({ path, caller = unrestricted }) => accessOf(accounts, await projectOf(path.project_id), caller),
    ),
    route(
      'PUT /v3/projects/{project_id}/access',
      {
        summary: 'Give a user or a group a role on a project, or take it away',
        right: 'Project.Audit',
        own: true,
        body: ShareChange,
        reply: ProjectAccess,
      },
      async ({ path, body, caller = unrestricted }) => {
        const project_id = await projectOf(path.project_id);
        await change(accounts, { project_id, caller, ...body });
        return accessOf(accounts, project_id, caller);
      },
    ),
  ];
}

const mayChangeList = (caller: Caller) => caller.may('ACE.Allocate', '/access/acl') && caller.may('ACE.Modify', '/access/acl');
const mayShare = (caller: Caller, path: string) => mayChangeList(caller) || caller.may('ACE.Allocate', path);

function accessOf(accounts: Accounts, project_id: string, caller: Caller) {
  const { store } = accounts;
  const path = `/projects/${project_id}`;
  const pools = store.list('pool').filter(({ projects }) => projects.some((one) => one.project_id === project_id));
  const may_change = mayShare(caller, path);
  const mayRead = may_change || caller.may('ACE.Audit', '/access/acl');
  const common = { project_id, may_change, may_read: mayRead, ask: findManagers(accounts, path) };
  if (!mayRead) return { ...common, pools: [], entries: [] };
  const deciding = new Set(
    pools.length > 0 ? ['/pools', ...pools.map((pool) => `/pools/${pool.resource_pool_id}`)] : [path, '/projects', '/'],
  );
  // Entries on the project stay while it is in a pool, and count again when it leaves the pool.
  const entries = store
    .list('entry')
    .filter((entry) => entry.path === path || (deciding.has(entry.path) && (entry.propagate || pools.length > 0)))
    .map((entry) => ({ ...entryOf(accounts, entry), is_own: entry.path === path, applies: deciding.has(entry.path) }));
  return { ...common, pools: pools.map(({ resource_pool_id, name }) => ({ resource_pool_id, name })), entries };
}

function entryOf(accounts: Accounts, { ace_id, ace_type, path, role_id, allowed, propagate, user_id, group_id }: EntryRecord) {
  const name =
    ace_type === 'user' ? accounts.findUser(user_id ?? '')?.username : accounts.store.find('group', group_id ?? '')?.name;
  const role = accounts.store.find('role', role_id)?.name ?? '';
  return { ace_id, ace_type, name: name ?? '', path, role, level: levelOf({ role_id, allowed, propagate }), allowed, propagate };
}

/** The level that an entry gives; null for a refusal, another role, and an entry that does not propagate. */
function levelOf({ role_id, allowed, propagate }: Pick<EntryRecord, 'role_id' | 'allowed' | 'propagate'>): AccessLevel | null {
  if (!allowed || !propagate) return null;
  return levels.find((level) => fixedId(`role ${roleOfLevel[level]}`) === role_id) ?? null;
}

interface AccessChange {
  readonly project_id: string;
  readonly caller: Caller;
  readonly ace_type: 'user' | 'group';
  readonly name: string;
  readonly level: AccessLevel | 'none';
}

/** Replaces all entries of a user or group on the project's path by one, or by none. @throws forbidden, account_missing, account_refused */
async function change(accounts: Accounts, { project_id, caller, ace_type, name, level }: AccessChange): Promise<void> {
  const { store } = accounts;
  const path = `/projects/${project_id}`;
  if (!mayShare(caller, path)) throw fault('forbidden', { privilege: 'ACE.Allocate', path });
  const subject = subjectOf(accounts, ace_type, name);
  if (level !== 'none' && accounts.findUser(subject)?.is_superadmin)
    throw fault('account_refused', { reason: `'${name}' is a super admin, who may do everything already` });
  const present = store
    .list('entry')
    .filter((entry) => entry.path === path && entry.ace_type === ace_type && (entry.user_id ?? entry.group_id) === subject);
  if (!mayChangeList(caller)) {
    if (present.some((entry) => levelOf(entry) === null))
      throw fault('account_refused', { reason: `The entry of '${name}' was made in the access list: it is changed there only` });
    const lacking = level !== 'none' && builtinRoles[roleOfLevel[level]]?.privileges.find((one) => !caller.may(one, path));
    if (lacking) throw fault('account_refused', { reason: `You cannot give '${level}': you lack ${lacking} on this project` });
  }
  const [first, ...others] = present;
  const at = now();
  if (level !== 'none') {
    const role_id = fixedId(`role ${roleOfLevel[level]}`);
    const given = { ace_type, path, role_id, propagate: true, allowed: true, updated_at: at };
    const ids = { user_id: ace_type === 'user' ? subject : null, group_id: ace_type === 'group' ? subject : null };
    await store.put('entry', { ...given, ...ids, ace_id: first?.ace_id ?? randomUUID(), created_at: first?.created_at ?? at });
  } else if (first) await store.remove('entry', first.ace_id);
  for (const { ace_id } of others) await store.remove('entry', ace_id);
}

/** Returns the id of a user or group. @throws account_missing */
function subjectOf(accounts: Accounts, what: 'user' | 'group', name: string): string {
  const id =
    what === 'user'
      ? accounts.listUsers().find(({ username }) => username === name)?.user_id
      : accounts.store.list('group').find((group) => group.name === name)?.user_group_id;
  if (id === undefined) throw fault('account_missing', { what, id: name });
  return id;
}
