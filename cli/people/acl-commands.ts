/** `patchbay role` and `patchbay acl`: what accounts may do, and why. A server must run: it knows the paths. */
import type { EntryObject, Explanation } from '../../src/people/routes/schemas.ts';
import type { Static } from '../../src/schema/type.ts';
import { type CliCommand, CliUsageError, printList, serverOptions } from '../command.ts';
import { findGroup, findRole, findUser, listGroups, listRoles, listUsers } from './find-records.ts';
import { onlyName } from './user-commands.ts';

type ListedEntry = Static<typeof EntryObject>;

const roleListCommand: CliCommand = {
  name: 'role list',
  args: '',
  summary: 'List the roles and their privileges',
  options: serverOptions,
  examples: [{ line: 'patchbay role list', does: 'Names, privileges and descriptions' }],
  run: async (call) => {
    const roles = await listRoles(call.api);
    printList(call, roles, ['NAME', 'PRIVILEGES', 'DESCRIPTION'], ({ name, privileges, description }) => [
      name ?? '',
      String(privileges.length),
      description ?? '',
    ]);
    return 0;
  },
};

const listCommand: CliCommand = {
  name: 'acl list',
  args: '',
  summary: 'List the entries of the access list',
  options: serverOptions,
  examples: [{ line: 'patchbay acl list', does: 'Who has which role on which path' }],
  run: async ({ api, out }) => {
    const entries = await api.json<ListedEntry[]>('GET', '/v3/access/acl');
    if (out.isJson) {
      out.json(entries);
      return 0;
    }
    const [users, groups, roles] = await Promise.all([listUsers(api), listGroups(api), listRoles(api)]);
    const names = new Map<string | null, string | null>([
      ...users.map(({ user_id, username }) => [user_id, username] as const),
      ...groups.map(({ user_group_id, name }) => [user_group_id, name] as const),
      ...roles.map(({ role_id, name }) => [role_id, name] as const),
    ]);
    out.table(
      ['OF', 'NAME', 'ROLE', 'PATH', 'EFFECT', 'ID'],
      entries.map((entry) => [
        entry.ace_type,
        names.get(entry.ace_type === 'user' ? entry.user_id : entry.group_id) ?? '',
        names.get(entry.role_id) ?? '',
        entry.path,
        `${entry.allowed ? 'grants' : 'refuses'}${entry.propagate ? '' : ', on this path only'}`,
        entry.ace_id,
      ]),
    );
    return 0;
  },
};

const addCommand: CliCommand = {
  name: 'acl add',
  args: 'NAME ROLE PATH',
  summary: 'Give a user, or a group, a role on a path',
  options: {
    group: { description: 'NAME is a group' },
    refuse: { description: 'Refuse what the role has, instead of granting it' },
    'no-propagate': { description: 'On this path only, not on those below' },
    ...serverOptions,
  },
  examples: [
    { line: 'patchbay acl add erin User /projects/5daa48ff-dbd6-407c-a3c6-645e743f5650', does: 'A project with all that is in it' },
    { line: 'patchbay acl add students Auditor /projects --group', does: 'All projects, to look at' },
    { line: 'patchbay acl add erin Administrator /', does: 'Everything: erin is an administrator' },
  ],
  run: async ({ api, out, args, options }) => {
    const [name, roleName, path] = args;
    if (name === undefined || roleName === undefined || path === undefined || args.length > 3)
      throw new CliUsageError('who, which role, where? patchbay acl add NAME ROLE PATH');
    const role = await findRole(api, roleName);
    const subject = options.group
      ? { ace_type: 'group', group_id: (await findGroup(api, name)).user_group_id }
      : { ace_type: 'user', user_id: (await findUser(api, name)).user_id };
    const effect = { allowed: options.refuse !== true, propagate: options['no-propagate'] !== true };
    const entry = await api.json<ListedEntry>('POST', '/v3/access/acl', { ...subject, role_id: role.role_id, path, ...effect });
    if (out.isJson) out.json(entry);
    else out.print(`${name} is ${entry.allowed ? 'granted' : 'refused'} ${roleName} on ${path}`);
    return 0;
  },
};

const removeCommand: CliCommand = {
  name: 'acl remove',
  args: 'ID',
  summary: 'Delete an entry of the access list',
  options: serverOptions,
  examples: [{ line: 'patchbay acl remove 7f3c2a2e-6a3c-4a0e-9d0f-6a1f4d7f9b11', does: 'The id is that of patchbay acl list' }],
  run: async (call) => {
    const id = onlyName(call, 'acl remove', 'ID');
    await call.api.json('DELETE', `/v3/access/acl/${encodeURIComponent(id)}`);
    if (!call.out.isJson) call.out.print(`The entry ${id} is deleted`);
    return 0;
  },
};

const explainCommand: CliCommand = {
  name: 'acl explain',
  args: 'USER METHOD PATH',
  summary: 'Say whether a user may send a request, and which entry decides',
  options: serverOptions,
  examples: [{ line: 'patchbay acl explain erin POST /v2/projects', does: 'Exit code 0 only if erin may' }],
  run: async ({ api, out, args }) => {
    const [user, method, path] = args;
    if (user === undefined || method === undefined || path === undefined || args.length > 3)
      throw new CliUsageError('who, what, where? patchbay acl explain USER METHOD PATH');
    const target = path.replace(/^\/+/, '').split('/').map(encodeURIComponent).join('/');
    const explained = await api.json<Static<typeof Explanation>>(
      'GET',
      `/v3/access/acl/explain/${encodeURIComponent(user)}/${encodeURIComponent(method)}/${target}`,
    );
    if (out.isJson) out.json(explained);
    else {
      const { allowed, right, reasons } = explained;
      out.print(`${user} may ${allowed ? '' : 'not '}send ${method.toUpperCase()} /${path.replace(/^\/+/, '')}`);
      for (const { sentence } of reasons) out.print(sentence);
      if (reasons.length === 0) out.print(`The route's right is: ${[right].flat().join(', ')}.`);
    }
    return explained.allowed ? 0 : 1;
  },
};

export const aclCommands: readonly CliCommand[] = [roleListCommand, listCommand, addCommand, removeCommand, explainCommand];
