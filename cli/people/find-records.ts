/** Finds users, groups and roles by the names that people type. */

import type { GroupObject, RoleObject, UserObject } from '../../src/people/routes/schemas.ts';
import type { Static } from '../../src/schema/type.ts';
import { CliUsageError } from '../command.ts';
import type { AccountsApi } from './accounts-place.ts';

export type User = Static<typeof UserObject>;
export type Group = Static<typeof GroupObject>;
export type Role = Static<typeof RoleObject>;

export const listUsers = (api: AccountsApi) => api.json<User[]>('GET', '/v3/access/users');
export const listGroups = (api: AccountsApi) => api.json<Group[]>('GET', '/v3/access/groups');
export const listRoles = (api: AccountsApi) => api.json<Role[]>('GET', '/v3/access/roles');

export const findUser = async (api: AccountsApi, name: string) =>
  named('user', await listUsers(api), name, ({ username }) => username);
export const findGroup = async (api: AccountsApi, name: string) => named('group', await listGroups(api), name, (one) => one.name);
export const findRole = async (api: AccountsApi, name: string) => named('role', await listRoles(api), name, (one) => one.name);

/** @throws CliUsageError with the names that exist */
function named<T>(what: string, list: readonly T[], name: string, nameOf: (one: T) => string | null): T {
  const found = list.find((one) => nameOf(one) === name);
  if (found) return found;
  const known = list.slice(0, 20).map(nameOf).join(', ');
  throw new CliUsageError(`there is no ${what} '${name}'${known === '' ? '' : `; there are ${known}`}`);
}
