/** `/v3/access/users`: logins, one's own account, and the accounts of others. */
import { randomBytes, randomUUID } from 'node:crypto';
import { fault } from '../../api/faults.ts';
import type { Caller } from '../../api/rights.ts';
import { type Call, type Route, route } from '../../api/route.ts';
import { isPrivilege } from '../../schema/privilege.ts';
import { type Static, Type } from '../../schema/type.ts';
import { type Accounts, hashOfToken, tokenPrefix } from '../accounts.ts';
import { now, type TokenRecord, type UserRecord } from '../records.ts';
import {
  Credentials,
  GroupObject,
  NewPersonalToken,
  OwnUserUpdate,
  PersonalToken,
  RefreshToken,
  Token,
  TokenCreate,
  UserCreate,
  UserObject,
  UserUpdate,
} from './schemas.ts';

const dayMs = 86_400_000;
/** Most personal access tokens of a user. */
const mostTokens = 100;

export function userRoutes(accounts: Accounts): Route[] {
  return [...loginRoutes(accounts), ...ownRoutes(accounts), ...tokenRoutes(accounts), ...otherRoutes(accounts)];
}

function loginRoutes(accounts: Accounts): Route[] {
  const logIn = async (user: string, password: string, { client = '' }: Pick<Call, 'client'>) => {
    if (accounts.isClosed) return accounts.tokensOf(await accounts.logIn({ user, password, client }));
    // A server without credentials gives all that reach it all rights, on its own machine only; a token adds nothing.
    if (!accounts.isOpenToLogins)
      throw fault('account_refused', { reason: 'This server has no logins: set auth = True in [Server]' });
    return accounts.tokensOf(accounts.administrator);
  };
  return [
    route(
      'POST /v3/access/users/login',
      { summary: 'Log in with a form', right: 'open', raw: true, reply: Token },
      async (call) => {
        const { username, password, grant_type = 'password' } = await readForm(call);
        const missing = Object.entries({ username, password }).filter(([, value]) => value === undefined);
        if (missing.length > 0 || grant_type !== 'password')
          throw fault('invalid_request', { reason: 'the form needs username and password, and grant_type=password or none' });
        return logIn(username ?? '', password ?? '', call);
      },
    ),
    route('POST /v3/access/users/authenticate', { summary: 'Log in', right: 'open', body: Credentials, reply: Token }, (call) =>
      logIn(call.body.username, call.body.password, call),
    ),
    route(
      'POST /v3/access/users/refresh',
      { summary: 'Get new tokens for a refresh token', right: 'open', body: RefreshToken, reply: Token },
      async ({ body }) => accounts.tokensOf(await accounts.refresh(body.refresh_token)),
    ),
    route('POST /v3/access/users/logout', { summary: 'End all logins of the user', right: 'login', status: 204 }, async (call) => {
      const user = accounts.getUser(selfOf(call.caller).userId);
      await accounts.store.put('user', { ...user, token_version: user.token_version + 1 });
    }),
  ];
}

function ownRoutes(accounts: Accounts): Route[] {
  return [
    route('GET /v3/access/users/me', { summary: 'Get the own account', right: 'login', reply: UserObject }, ({ caller }) =>
      // A server without credentials has one user.
      userObject(!caller || caller.isAnonymous ? accounts.administrator : accounts.getUser(caller.userId)),
    ),
    route(
      'PUT /v3/access/users/me',
      { summary: 'Change the own account', right: 'login', body: OwnUserUpdate, reply: UserObject },
      async ({ caller, body }) => {
        const { userId } = withPassword(caller);
        return userObject(await update(accounts, accounts.getUser(userId), body));
      },
    ),
  ];
}

function tokenRoutes(accounts: Accounts): Route[] {
  const { store } = accounts;
  const ownOf = (userId: string) => store.list('token').filter(({ user_id }) => user_id === userId);
  return [
    route(
      'GET /v3/access/users/me/tokens',
      {
        summary: 'List the personal access tokens, without their secrets',
        right: 'login',
        own: true,
        reply: Type.Array(PersonalToken),
      },
      ({ caller }) => ownOf(caller?.userId ?? '').map(tokenObject),
    ),
    route(
      'POST /v3/access/users/me/tokens',
      {
        summary: 'Make a personal access token; it is shown once',
        right: 'login',
        body: TokenCreate,
        status: 201,
        own: true,
        reply: NewPersonalToken,
      },
      async ({ caller, body }) => {
        const { userId } = withPassword(caller);
        const unknown = body.privileges?.find((name) => !isPrivilege(name));
        if (unknown !== undefined) throw fault('account_invalid', { reason: `${unknown} is no privilege` });
        if (ownOf(userId).length >= mostTokens)
          throw fault('account_invalid', { reason: `${mostTokens} tokens are enough: delete one` });
        const secret = tokenPrefix + randomBytes(32).toString('base64url');
        const record: TokenRecord = {
          token_id: randomUUID(),
          user_id: userId,
          name: body.name,
          hash: hashOfToken(secret),
          privileges: (body.privileges ?? null) as TokenRecord['privileges'],
          path: body.path ?? null,
          created_at: now(),
          expires_at: now(new Date(Date.now() + (body.expires_in_days ?? 365) * dayMs)),
        };
        await keepAdministrator(accounts, userId);
        return { ...tokenObject(await store.put('token', record)), token: secret };
      },
    ),
    route(
      'DELETE /v3/access/users/me/tokens/{token_id}',
      { summary: 'Revoke a personal access token', right: 'login', status: 204, own: true },
      async ({ caller, path }) => {
        if (store.get('token', path.token_id).user_id !== selfOf(caller).userId)
          throw fault('account_missing', { what: 'token', id: path.token_id });
        await store.remove('token', path.token_id);
      },
    ),
  ];
}

function otherRoutes(accounts: Accounts): Route[] {
  const { store } = accounts;
  return [
    route('GET /v3/access/users', { summary: 'List the users', right: 'User.Audit', reply: Type.Array(UserObject) }, () =>
      accounts.listUsers().map(userObject),
    ),
    route(
      'POST /v3/access/users',
      { summary: 'Create a user', right: 'User.Allocate', body: UserCreate, status: 201, reply: UserObject },
      async ({ body }) => userObject(await createUser(accounts, body)),
    ),
    route('GET /v3/access/users/{user_id}', { summary: 'Get a user', right: 'User.Audit', reply: UserObject }, ({ path }) =>
      userObject(accounts.getUser(path.user_id)),
    ),
    route(
      'PUT /v3/access/users/{user_id}',
      { summary: 'Change a user', right: 'User.Modify', body: UserUpdate, reply: UserObject },
      async ({ path, body, caller }) => {
        const user = accounts.getUser(path.user_id);
        if ((user.is_superadmin || body.is_superadmin) && caller?.isSuperAdmin === false)
          throw fault('account_refused', { reason: 'Only a super admin may change or make a super admin' });
        return userObject(await update(accounts, user, body));
      },
    ),
    route(
      'DELETE /v3/access/users/{user_id}',
      { summary: 'Delete a user', right: 'User.Allocate', status: 204 },
      async ({ path }) => {
        const user = accounts.getUser(path.user_id);
        if (user.is_superadmin) throw fault('account_refused', { reason: `Super admin '${user.username}' cannot be deleted` });
        await store.remove('user', user.user_id);
      },
    ),
    route(
      'GET /v3/access/users/{user_id}/groups',
      { summary: 'List the groups of a user', right: 'Group.Audit', reply: Type.Array(GroupObject) },
      ({ path }) =>
        store
          .list('group')
          .filter(({ members }) => members.includes(path.user_id))
          .map(({ members: _, ...group }) => group),
    ),
  ];
}

/** @throws account_taken */
export async function createUser(accounts: Accounts, body: Static<typeof UserCreate>): Promise<UserRecord> {
  requireFree(accounts, body);
  const hash = await accounts.passwords.hash(body.password);
  requireFree(accounts, body);
  const at = now();
  return accounts.store.put('user', {
    user_id: randomUUID(),
    username: body.username,
    email: body.email ?? null,
    full_name: body.full_name ?? null,
    is_active: true,
    is_superadmin: false,
    last_login: null,
    hash,
    token_version: 0,
    created_at: at,
    updated_at: at,
  });
}

/**
 * Changes a user. A new name or password, disabling, and becoming a super admin or none end all logins. @throws account_taken,
 * account_refused
 */
async function update(accounts: Accounts, user: UserRecord, body: Static<typeof UserUpdate>): Promise<UserRecord> {
  const { username, email, full_name, password, is_active, is_superadmin } = body;
  const isFixed =
    (accounts.isConfigured(user) && (username || is_active === false || is_superadmin === false)) ||
    (accounts.isConfigured(user, 'password') && password);
  if (isFixed) throw fault('account_refused', { reason: `'${user.username}' is the user of the configuration: change it there` });
  requireFree(accounts, { ...(username && { username }), email: email ?? null });
  const hash = password ? await accounts.passwords.hash(password) : undefined;
  requireFree(accounts, { ...(username && { username }), email: email ?? null });
  const current = accounts.getUser(user.user_id);
  const turned = typeof is_superadmin === 'boolean' && is_superadmin !== current.is_superadmin;
  const endsLogins = hash !== undefined || Boolean(username) || turned || (is_active === false && current.is_active);
  return accounts.store.put('user', {
    ...current,
    ...(username && { username }),
    ...(email !== undefined && { email }),
    ...(full_name !== undefined && { full_name }),
    ...(hash !== undefined && { hash }),
    ...(typeof is_active === 'boolean' && { is_active }),
    ...(turned && { is_superadmin }),
    token_version: current.token_version + Number(endsLogins),
    updated_at: now(),
  });
}

/** GNS3 refuses a name or address that is taken, also by the user itself. @throws account_taken */
function requireFree(accounts: Accounts, { username, email }: { username?: string; email?: string | null | undefined }): void {
  const users = accounts.listUsers();
  if (username !== undefined && users.some((one) => one.username === username))
    throw fault('account_taken', { what: 'user', name: username });
  if (email && users.some((one) => one.email?.toLowerCase() === email.toLowerCase()))
    throw fault('account_taken', { what: 'e-mail address', name: email });
}

/** Stores the administrator of the configuration: other records name it. */
async function keepAdministrator(accounts: Accounts, userId: string): Promise<void> {
  if (!accounts.store.find('user', userId)) await accounts.store.put('user', accounts.getUser(userId));
}

/** @throws unauthorized for a request without a login, which a server without credentials allows */
function selfOf(caller: Caller | undefined): Caller {
  if (!caller || caller.isAnonymous) throw fault('unauthorized', {});
  return caller;
}

/** A token must not make itself another one, or a new password. @throws account_refused */
function withPassword(caller: Caller | undefined): Caller {
  const self = selfOf(caller);
  if (self.tokenId !== undefined)
    throw fault('account_refused', { reason: 'This needs a login with the password, not with a token' });
  return self;
}

export function userObject({ hash: _, token_version: __, ...user }: UserRecord): Omit<UserRecord, 'hash' | 'token_version'> {
  return user;
}

function tokenObject({ hash: _, user_id: __, last_used_at, ...token }: TokenRecord) {
  return { ...token, last_used_at: last_used_at ?? null };
}

/** Longest form of a login, bytes. */
const mostFormBytes = 10_000;

async function readForm({ stream }: Call): Promise<Record<string, string | undefined>> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream ?? []) {
    bytes += (piece as Buffer).length;
    if (bytes > mostFormBytes) throw fault('body_too_large', { limit: mostFormBytes });
    pieces.push(piece as Buffer);
  }
  return Object.fromEntries(new URLSearchParams(Buffer.concat(pieces).toString('utf8')));
}
