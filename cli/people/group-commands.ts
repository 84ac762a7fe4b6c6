/** `patchbay group`: groups of accounts, and their members. */
import { type CliCommand, printList } from '../command.ts';
import { placeOptions, withAccounts } from './accounts-place.ts';
import { findGroup, findUser, type Group, listGroups, type User } from './find-records.ts';
import { onlyName } from './user-commands.ts';

const listCommand: CliCommand = {
  name: 'group list',
  args: '',
  summary: 'List the groups',
  options: placeOptions,
  examples: [{ line: 'patchbay group list', does: 'Names of the groups' }],
  run: (call) =>
    withAccounts(call, async (api) => {
      const groups = await listGroups(api);
      printList(call, groups, ['NAME', 'BUILT IN'], ({ name, is_builtin }) => [name ?? '', is_builtin ? 'yes' : 'no']);
      return 0;
    }),
};

const addCommand: CliCommand = {
  name: 'group add',
  args: 'NAME',
  summary: 'Create a group',
  options: placeOptions,
  examples: [{ line: 'patchbay group add students', does: 'A group without members' }],
  run: (call) => {
    const name = onlyName(call, 'group add');
    return withAccounts(call, async (api) => {
      const group = await api.json<Group>('POST', '/v3/access/groups', { name });
      if (call.out.isJson) call.out.json(group);
      else call.out.print(`The group ${name} was created`);
      return 0;
    });
  },
};

const removeCommand: CliCommand = {
  name: 'group remove',
  args: 'NAME',
  summary: 'Delete a group with its rights; its members stay',
  options: placeOptions,
  examples: [{ line: 'patchbay group remove students', does: 'Delete a group' }],
  run: (call) => {
    const name = onlyName(call, 'group remove');
    return withAccounts(call, async (api) => {
      await api.json('DELETE', `/v3/access/groups/${(await findGroup(api, name)).user_group_id}`);
      if (!call.out.isJson) call.out.print(`The group ${name} is deleted`);
      return 0;
    });
  },
};

const membersCommand: CliCommand = {
  name: 'group members',
  args: 'GROUP',
  summary: 'List the members of a group, after it was given or lost some',
  options: {
    add: { value: 'NAME', multiple: true, description: 'Add this user; may be repeated' },
    remove: { value: 'NAME', multiple: true, description: 'Remove this user; may be repeated' },
    ...placeOptions,
  },
  examples: [{ line: 'patchbay group members students --add erin --add frank', does: 'Add two, and list all' }],
  run: (call) => {
    const name = onlyName(call, 'group members');
    const [added, removed] = [call.options.add, call.options.remove].map((names) => (Array.isArray(names) ? names : []));
    return withAccounts(call, async (api) => {
      const path = `/v3/access/groups/${(await findGroup(api, name)).user_group_id}/members`;
      const members = () => api.json<User[]>('GET', path);
      // All names are looked up before the first change.
      const [adding, removing] = await Promise.all(
        [added, removed].map((names = []) => Promise.all(names.map((one: string) => findUser(api, one)))),
      );
      const before = new Set((await members()).map(({ user_id }) => user_id));
      for (const { user_id } of adding ?? []) if (!before.has(user_id)) await api.json('PUT', `${path}/${user_id}`);
      for (const { user_id } of removing ?? []) if (before.has(user_id)) await api.json('DELETE', `${path}/${user_id}`);
      printList(call, await members(), ['NAME', 'FULL NAME'], ({ username, full_name }) => [username, full_name ?? '']);
      return 0;
    });
  },
};

export const groupCommands: readonly CliCommand[] = [listCommand, addCommand, removeCommand, membersCommand];
