/** `patchbay user`: accounts of a server, or of a data folder whose server does not run. */
import { hostname } from 'node:os';
import type { NewPersonalToken, PersonalToken } from '../../src/people/routes/schemas.ts';
import type { Static } from '../../src/schema/type.ts';
import { type CliCall, type CliCommand, CliUsageError, printList, serverOptions, textOption } from '../command.ts';
import { placeOptions, withAccounts } from './accounts-place.ts';
import { findUser, listUsers, type User } from './find-records.ts';
import { importAccountsCommand } from './import-command.ts';
import { readPassword } from './read-password.ts';
import { repairCommand } from './repair-command.ts';

const listCommand: CliCommand = {
  name: 'user list',
  args: '',
  summary: 'List the accounts',
  options: placeOptions,
  examples: [
    { line: 'patchbay user list', does: 'Accounts of the server' },
    { line: 'patchbay user list --data-dir ~/networks', does: 'Accounts of a server that does not run' },
  ],
  run: (call) =>
    withAccounts(call, async (api) => {
      printList(call, await listUsers(api), ['NAME', 'FULL NAME', 'STATE', 'LAST LOGIN'], rowOf);
      return 0;
    }),
};

const rowOf = ({ username, full_name, is_active, is_superadmin, last_login }: User): string[] => [
  username,
  full_name ?? '',
  `${is_active ? 'active' : 'disabled'}${is_superadmin ? ', super admin' : ''}`,
  last_login ?? '',
];

const addCommand: CliCommand = {
  name: 'user add',
  args: 'NAME',
  summary: 'Create an account, which has no rights at first; the password is asked for, or read from standard input',
  options: {
    email: { value: 'ADDRESS', description: 'E-mail address' },
    'full-name': { value: 'TEXT', description: 'Full name' },
    ...placeOptions,
  },
  examples: [
    { line: 'patchbay user add erin', does: 'Ask for the password, twice' },
    { line: 'patchbay user add erin < password-of-erin', does: 'Read it from the first line of a file' },
  ],
  run: (call) => {
    const username = onlyName(call, 'user add');
    const email = textOption(call, 'email');
    const full_name = textOption(call, 'full-name');
    return withAccounts(call, async (api) => {
      const password = await readPassword(username);
      const body = { username, password, ...(email !== undefined && { email }), ...(full_name !== undefined && { full_name }) };
      return showUser(call, await api.json<User>('POST', '/v3/access/users', body), 'was created, without rights');
    });
  },
};

const passwdCommand: CliCommand = {
  name: 'user passwd',
  args: 'NAME',
  summary: 'Set the password of an account, which ends its logins; it is asked for, or read from standard input',
  options: placeOptions,
  examples: [{ line: 'patchbay user passwd admin --data-dir ~/networks', does: 'When no administrator can log in any more' }],
  run: (call) => {
    const name = onlyName(call, 'user passwd');
    return withAccounts(call, async (api) => {
      const { user_id } = await findUser(api, name);
      const password = await readPassword(name);
      return showUser(call, await api.json<User>('PUT', `/v3/access/users/${user_id}`, { password }), 'has the new password');
    });
  },
};

/** Makes `user disable` or `user enable`. */
function activeCommand(word: 'disable' | 'enable', summary: string): CliCommand {
  return {
    name: `user ${word}`,
    args: 'NAME',
    summary,
    options: placeOptions,
    examples: [{ line: `patchbay user ${word} erin`, does: summary }],
    run: (call) => {
      const name = onlyName(call, `user ${word}`);
      return withAccounts(call, async (api) => {
        const { user_id } = await findUser(api, name);
        const body = { is_active: word === 'enable' };
        return showUser(call, await api.json<User>('PUT', `/v3/access/users/${user_id}`, body), `is ${word}d`);
      });
    },
  };
}

const removeCommand: CliCommand = {
  name: 'user remove',
  args: 'NAME',
  summary: 'Delete an account with its rights, memberships and tokens',
  options: placeOptions,
  examples: [{ line: 'patchbay user remove erin', does: 'Delete an account; its projects stay' }],
  run: (call) => {
    const name = onlyName(call, 'user remove');
    return withAccounts(call, async (api) => {
      await api.json('DELETE', `/v3/access/users/${(await findUser(api, name)).user_id}`);
      if (!call.out.isJson) call.out.print(`${name} is deleted`);
      return 0;
    });
  },
};

const tokenCommand: CliCommand = {
  name: 'user token',
  args: '',
  summary: 'Make a personal access token of your own account, for scripts; it is printed once, alone',
  options: {
    name: { value: 'TEXT', description: 'Name of the token (default: the name of this machine)' },
    days: { value: 'DAYS', description: 'Days until it ends (default 365)' },
    privilege: { value: 'PRIVILEGE', multiple: true, description: 'Limit it to this privilege; may be repeated' },
    path: { value: 'PATH', description: 'Limit it to this path and those below' },
    list: { description: 'List your tokens instead' },
    revoke: { value: 'TOKEN_ID', description: 'Revoke one of your tokens instead' },
    ...serverOptions,
  },
  examples: [
    { line: 'patchbay user token --privilege Project.Audit --privilege Node.Audit', does: 'A token that reads projects and nodes' },
    { line: 'patchbay user token --list', does: 'Names and ids; a token itself is not shown again' },
  ],
  run: async (call) => {
    const { api, out, options } = call;
    const revoked = textOption(call, 'revoke');
    if (revoked !== undefined) {
      await api.json('DELETE', `${tokensPath}/${encodeURIComponent(revoked)}`);
      if (!out.isJson) out.print(`The token ${revoked} is revoked`);
      return 0;
    }
    if (options.list === true) {
      const tokens = await api.json<Static<typeof PersonalToken>[]>('GET', tokensPath);
      printList(call, tokens, ['ID', 'NAME', 'UNTIL', 'LAST USED', 'PATH', 'PRIVILEGES'], (one) => [
        ...[one.token_id, one.name, one.expires_at ?? '', one.last_used_at ?? 'never'],
        ...[one.path ?? '', one.privileges?.join(', ') ?? 'all'],
      ]);
      return 0;
    }
    const made = await api.json<Static<typeof NewPersonalToken>>('POST', tokensPath, tokenBody(call));
    if (out.isJson) out.json(made);
    else {
      out.print(made.token);
      out.note(`It is not shown again. Send it as Bearer, or as the password of HTTP Basic; it ends ${made.expires_at ?? 'never'}`);
    }
    return 0;
  },
};

const tokensPath = '/v3/access/users/me/tokens';

function tokenBody(call: CliCall) {
  const days = textOption(call, 'days');
  if (days !== undefined && !/^\d{1,4}$/.test(days)) throw new CliUsageError('--days takes a number of days, 1 to 3650');
  const path = textOption(call, 'path');
  const { privilege } = call.options;
  return {
    name: textOption(call, 'name') ?? hostname(),
    ...(days !== undefined && { expires_in_days: Number(days) }),
    ...(Array.isArray(privilege) && { privileges: privilege }),
    ...(path !== undefined && { path }),
  };
}

/** Returns the only argument. @throws CliUsageError */
export function onlyName({ args }: CliCall, command: string, what = 'NAME'): string {
  const [name] = args;
  if (name === undefined || args.length > 1) throw new CliUsageError(`name one: patchbay ${command} ${what}`);
  return name;
}

function showUser({ out }: CliCall, user: User, what: string): number {
  if (out.isJson) out.json(user);
  else out.print(`${user.username} ${what}`);
  return 0;
}

export const userCommands: readonly CliCommand[] = [
  listCommand,
  addCommand,
  passwdCommand,
  activeCommand('disable', 'Disable an account, which ends its logins and open streams'),
  activeCommand('enable', 'Enable an account again'),
  removeCommand,
  tokenCommand,
  repairCommand,
  importAccountsCommand,
];
