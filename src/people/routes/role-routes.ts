/** `/v3/access/groups`, `roles` and `privileges`. */
import { randomUUID } from 'node:crypto';
import { fault } from '../../api/faults.ts';
import { type Route, route } from '../../api/route.ts';
import { fixedId } from '../../lib/fixed-id.ts';
import { privileges } from '../../schema/privilege.ts';
import { Type } from '../../schema/type.ts';
import type { Accounts } from '../accounts.ts';
import { findPrivilege, privilegeObject } from '../built-in.ts';
import { type GroupRecord, now, type RoleRecord } from '../records.ts';
import {
  GroupCreate,
  GroupObject,
  GroupUpdate,
  PrivilegeObject,
  RoleCreate,
  RoleObject,
  RoleUpdate,
  UserObject,
} from './schemas.ts';
import { userObject } from './user-routes.ts';

export function groupRoutes(accounts: Accounts): Route[] {
  const { store } = accounts;
  const changeable = (id: string) => requireOwn('group', store.get('group', id));
  return [
    route('GET /v3/access/groups', { summary: 'List the groups', right: 'Group.Audit', reply: Type.Array(GroupObject) }, () =>
      store.list('group').map(groupObject),
    ),
    route(
      'POST /v3/access/groups',
      { summary: 'Create a group', right: 'Group.Allocate', body: GroupCreate, status: 201, reply: GroupObject },
      async ({ body: { name } }) => {
        requireFree('group', store.list('group'), name);
        const at = now();
        const user_group_id = randomUUID();
        return groupObject(
          await store.put('group', { user_group_id, name, is_builtin: false, members: [], created_at: at, updated_at: at }),
        );
      },
    ),
    route(
      'GET /v3/access/groups/{user_group_id}',
      { summary: 'Get a group', right: 'Group.Audit', reply: GroupObject },
      ({ path }) => groupObject(store.get('group', path.user_group_id)),
    ),
    route(
      'PUT /v3/access/groups/{user_group_id}',
      { summary: 'Rename a group', right: 'Group.Modify', body: GroupUpdate, reply: GroupObject },
      async ({ path, body: { name } }) => {
        const group = changeable(path.user_group_id);
        if (name !== group.name) requireFree('group', store.list('group'), name);
        return groupObject(await store.put('group', { ...group, ...(name && { name }), updated_at: now() }));
      },
    ),
    route(
      'DELETE /v3/access/groups/{user_group_id}',
      { summary: 'Delete a group', right: 'Group.Allocate', status: 204 },
      ({ path }) => store.remove('group', changeable(path.user_group_id).user_group_id),
    ),
    ...memberRoutes(accounts),
  ];
}

function memberRoutes(accounts: Accounts): Route[] {
  const { store } = accounts;
  const withMembers = (group: GroupRecord, members: readonly string[]) =>
    store.put('group', { ...group, members, updated_at: now() }).then(() => undefined);
  return [
    route(
      'GET /v3/access/groups/{user_group_id}/members',
      { summary: 'List the members', right: 'Group.Audit', reply: Type.Array(UserObject) },
      ({ path }) =>
        (store.find('group', path.user_group_id)?.members ?? []).flatMap((id) => {
          const user = accounts.findUser(id);
          return user ? [userObject(user)] : [];
        }),
    ),
    route(
      'PUT /v3/access/groups/{user_group_id}/members/{user_id}',
      { summary: 'Add a member', right: 'Group.Modify', status: 204 },
      ({ path }) => {
        const group = store.get('group', path.user_group_id);
        const { user_id, username } = accounts.getUser(path.user_id);
        if (group.members.includes(user_id)) throw fault('account_taken', { what: 'member', name: username });
        return withMembers(group, [...group.members, user_id]);
      },
    ),
    route(
      'DELETE /v3/access/groups/{user_group_id}/members/{user_id}',
      { summary: 'Remove a member', right: 'Group.Modify', status: 204 },
      ({ path: { user_group_id, user_id } }) => {
        const group = store.get('group', user_group_id);
        if (!group.members.includes(user_id)) throw fault('account_missing', { what: 'member', id: user_id });
        return withMembers(
          group,
          group.members.filter((id) => id !== user_id),
        );
      },
    ),
  ];
}

export function roleRoutes(accounts: Accounts): Route[] {
  const { store } = accounts;
  const changeable = (id: string) => requireOwn('role', store.get('role', id));
  return [
    route('GET /v3/access/privileges', { summary: 'List the privileges', right: 'login', reply: Type.Array(PrivilegeObject) }, () =>
      privileges.map(asObject(store)),
    ),
    route('GET /v3/access/roles', { summary: 'List the roles', right: 'Role.Audit', reply: Type.Array(RoleObject) }, () =>
      store.list('role').map(roleObject),
    ),
    route(
      'POST /v3/access/roles',
      { summary: 'Create a role without privileges', right: 'Role.Allocate', body: RoleCreate, status: 201, reply: RoleObject },
      async ({ body: { name, description = null } }) => {
        requireFree('role', store.list('role'), name);
        const at = now();
        const role = {
          role_id: randomUUID(),
          name,
          description,
          is_builtin: false,
          privileges: [],
          created_at: at,
          updated_at: at,
        };
        return roleObject(await store.put('role', role));
      },
    ),
    route('GET /v3/access/roles/{role_id}', { summary: 'Get a role', right: 'Role.Audit', reply: RoleObject }, ({ path }) =>
      roleObject(store.get('role', path.role_id)),
    ),
    route(
      'PUT /v3/access/roles/{role_id}',
      { summary: 'Change a role', right: 'Role.Modify', body: RoleUpdate, reply: RoleObject },
      async ({ path, body: { name, description } }) => {
        const role = changeable(path.role_id);
        if (name !== role.name) requireFree('role', store.list('role'), name);
        const changed = { ...(name && { name }), ...(description !== undefined && { description }), updated_at: now() };
        return roleObject(await store.put('role', { ...role, ...changed }));
      },
    ),
    route('DELETE /v3/access/roles/{role_id}', { summary: 'Delete a role', right: 'Role.Allocate', status: 204 }, ({ path }) =>
      store.remove('role', changeable(path.role_id).role_id),
    ),
    ...rolePrivilegeRoutes(accounts),
  ];
}

function rolePrivilegeRoutes({ store }: Accounts): Route[] {
  const withPrivileges = (role: RoleRecord, names: RoleRecord['privileges']) =>
    store.put('role', { ...role, privileges: names, updated_at: now() }).then(() => undefined);
  const privilegeOf = (id: string) => {
    const name = findPrivilege(id);
    if (!name) throw fault('account_missing', { what: 'privilege', id });
    return name;
  };
  return [
    route(
      'GET /v3/access/roles/{role_id}/privileges',
      { summary: 'List its privileges', right: 'Role.Audit', reply: Type.Array(PrivilegeObject) },
      ({ path }) => (store.find('role', path.role_id)?.privileges ?? []).map(asObject(store)),
    ),
    route(
      'PUT /v3/access/roles/{role_id}/privileges/{privilege_id}',
      { summary: 'Add a privilege to a role', right: 'Role.Modify', status: 204 },
      ({ path }) => {
        const role = store.get('role', path.role_id);
        const name = privilegeOf(path.privilege_id);
        return role.privileges.includes(name) ? undefined : withPrivileges(role, [...role.privileges, name]);
      },
    ),
    route(
      'DELETE /v3/access/roles/{role_id}/privileges/{privilege_id}',
      { summary: 'Remove a privilege from a role', right: 'Role.Modify', status: 204 },
      ({ path }) => {
        const role = store.get('role', path.role_id);
        const name = privilegeOf(path.privilege_id);
        if (!role.privileges.includes(name)) throw fault('account_missing', { what: 'privilege of this role', id: name });
        return withPrivileges(
          role,
          role.privileges.filter((one) => one !== name),
        );
      },
    ),
  ];
}

/** Privileges are as old as the store: as its built-in role. */
function asObject(store: Accounts['store']) {
  const { created_at } = store.get('role', fixedId('role Administrator'));
  return (name: RoleRecord['privileges'][number]) => privilegeObject(name, created_at);
}

function groupObject({ members: _, ...group }: GroupRecord): Omit<GroupRecord, 'members'> {
  return group;
}

function roleObject({ privileges: names, ...role }: RoleRecord) {
  return { ...role, privileges: names.map((name) => privilegeObject(name, role.created_at)) };
}

/** @throws account_refused */
function requireOwn<R extends { readonly is_builtin: boolean; readonly name: string | null }>(what: string, record: R): R {
  if (record.is_builtin) throw fault('account_refused', { reason: `The ${what} '${record.name}' is built in: it stays as it is` });
  return record;
}

/** @throws account_taken */
export function requireFree(
  what: string,
  records: readonly { readonly name: string | null }[],
  name: string | null | undefined,
): void {
  if (name != null && records.some((one) => one.name === name)) throw fault('account_taken', { what, name });
}
