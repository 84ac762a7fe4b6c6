/** Logins of accounts: verifies passwords and tokens, and makes the callers that routes are given. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { fault } from '../api/faults.ts';
import { type Authenticator, type Caller, copiesPath } from '../api/rights.ts';
import { fixedId } from '../lib/fixed-id.ts';
import type { Warn } from '../lib/set-aside.ts';
import type { Privilege } from '../schema/privilege.ts';
import { AccessTokens, newKey, readKey } from './access-tokens.ts';
import { isBcrypt } from './bcrypt.ts';
import { decide } from './decide.ts';
import { LoginDelays } from './login-delays.ts';
import { Passwords, type ScryptCost } from './passwords.ts';
import { joinPools } from './pool-copies.ts';
import { now, type TokenRecord, type UserRecord } from './records.ts';
import type { PeopleStore } from './store.ts';
import { VisibleLists } from './visible-lists.ts';

/** The administrator of the configuration. */
export interface Configured {
  readonly user: string;
  /** Empty: the password is that of the account of this name. */
  readonly password: string;
}

interface AccountOptions {
  /** Absent on a server without credentials, whose tokens are signed with a key of the run. */
  readonly configured?: Configured;
  readonly isLoopback?: boolean;
  readonly warn?: Warn;
  /** Cost of new hashes. Default: the standard one, with which every server runs. */
  readonly cost?: ScryptCost;
}

export interface Login {
  readonly user: string;
  readonly password: string;
  readonly client: string;
}

/** Begin of personal access tokens, by which people and scanners of secrets recognize them. */
export const tokenPrefix = 'pbt_';
/** Most logins whose password is remembered; the oldest goes first. */
const mostRemembered = 5_000;
/** Shortest time between two notes of a token's use. */
const useNoteMs = 600_000;

export class Accounts implements Authenticator {
  readonly store: PeopleStore;
  readonly passwords: Passwords;
  readonly #tokens: AccessTokens;
  /** A server without credentials answers any login with a token of its user: on a loopback address only. */
  readonly isOpenToLogins: boolean;
  readonly #configured: Configured | undefined;
  readonly #administratorId: string;
  /** Fingerprint of the password of the configuration. */
  readonly #fingerprint: string;
  readonly #delays = new LoginDelays();
  readonly #lists = new VisibleLists();
  /** Key of this run, under which verified passwords are remembered. */
  readonly #runKey = randomBytes(32);
  /** Id and version of the user by the HMAC of name and password. */
  readonly #remembered = new Map<string, { readonly userId: string; readonly version: string }>();

  private constructor(store: PeopleStore, tokens: AccessTokens, { configured, isLoopback = false, cost }: AccountOptions) {
    this.store = store;
    this.passwords = new Passwords(cost);
    this.#tokens = tokens;
    this.#configured = configured;
    this.#fingerprint = tokens.fingerprint(configured?.password ?? '');
    this.isOpenToLogins = isLoopback;
    const name = configured?.user ?? 'admin';
    this.#administratorId = store.userNamed(name)?.user_id ?? fixedId(`administrator ${name}`);
  }

  static async open(store: PeopleStore, options: AccountOptions): Promise<Accounts> {
    const key = options.configured
      ? await readKey(join(store.folder, 'jwt_secret_key'), options.warn ?? (() => undefined))
      : newKey();
    return new Accounts(store, new AccessTokens(key), options);
  }

  /** Whether the server asks for logins. */
  get isClosed(): boolean {
    return this.#configured !== undefined;
  }

  /** The user of the configuration, a super admin; on a server without credentials the user of all requests. */
  get administrator(): UserRecord {
    return this.getUser(this.#administratorId);
  }

  listUsers(): UserRecord[] {
    const stored = this.store.list('user').map((user) => this.#asConfigured(user));
    return stored.some(({ user_id }) => user_id === this.#administratorId) ? stored : [this.administrator, ...stored];
  }

  findUser(id: string): UserRecord | undefined {
    const stored = this.store.find('user', id);
    if (stored) return this.#asConfigured(stored);
    return id === this.#administratorId ? this.#newAdministrator() : undefined;
  }

  /** @throws account_missing */
  getUser(id: string): UserRecord {
    return this.findUser(id) ?? this.store.get('user', id);
  }

  /** Whether the user is that of the configuration, which has its name, and its `password` unless that is left out. */
  isConfigured({ user_id }: UserRecord, what: 'user' | 'password' = 'user'): boolean {
    return user_id === this.#administratorId && (what === 'user' || (this.#configured?.password ?? '') !== '');
  }

  /**
   * Verifies a login. Unknown users and wrong passwords cost the same, and failures are answered later and later. @throws
   * too_many_logins, login_busy
   */
  async signIn({ user: name, password, client }: Login): Promise<Caller | undefined> {
    const attempt = digest(`${name}\0${password}`);
    if (!this.#delays.accepts(client, name)) throw fault('too_many_logins', {});
    const user = await this.#verified({ user: name, password, client });
    if (user === undefined) await this.#delays.failed(client, name, attempt);
    return user;
  }

  /** Verifies a login of `/v3`, and notes its time. @throws wrong_login, too_many_logins, login_busy */
  async logIn(login: Login): Promise<UserRecord> {
    const caller = await this.signIn(login);
    if (!caller || caller.tokenId !== undefined) throw fault('wrong_login', {});
    const user = this.getUser(caller.userId);
    return this.store.put('user', { ...user, last_login: now() });
  }

  async bearer(token: string): Promise<Caller | undefined> {
    if (token.startsWith(tokenPrefix)) return this.#byToken(token);
    const claims = await this.#tokens.verify('access', token);
    if (!claims) return undefined;
    const caller = this.#callerOf(claims.userId, { version: claims.version, expiresAt: claims.expiresAt });
    return caller.isValid() ? caller : undefined;
  }

  /** Makes an access token and a refresh token. */
  async tokensOf(user: UserRecord): Promise<{ access_token: string; refresh_token: string; token_type: 'bearer' }> {
    const version = this.#versionOf(user);
    const [access_token, refresh_token] = await Promise.all([
      this.#tokens.sign('access', user, version),
      this.#tokens.sign('refresh', user, version),
    ]);
    return { access_token, refresh_token, token_type: 'bearer' };
  }

  /** @throws wrong_login */
  async refresh(token: string): Promise<UserRecord> {
    const claims = await this.#tokens.verify('refresh', token);
    const user = this.findUser(claims?.userId ?? '');
    if (!user?.is_active || this.#versionOf(user) !== claims?.version) throw fault('wrong_login', {});
    return user;
  }

  onChange(listener: () => void): () => void {
    return this.store.onChange(listener);
  }

  async #verified({ user: name, password, client }: Login): Promise<Caller | undefined> {
    if (password.startsWith(tokenPrefix)) {
      const caller = this.#byToken(password);
      return caller?.username === name ? caller : undefined;
    }
    const key = createHmac('sha256', this.#runKey).update(`${name}\0${password}`).digest('base64');
    const known = this.#remembered.get(key);
    if (known) {
      const caller = this.#callerOf(known.userId, { version: known.version });
      if (caller.isValid()) return caller;
      this.#remembered.delete(key);
    }
    const user = await this.#byPassword({ user: name, password, client });
    if (!user) return undefined;
    const version = this.#versionOf(user);
    const oldest = this.#remembered.size >= mostRemembered ? this.#remembered.keys().next().value : undefined;
    if (oldest !== undefined) this.#remembered.delete(oldest);
    this.#remembered.set(key, { userId: user.user_id, version });
    const caller = this.#callerOf(user.user_id, { version });
    return caller.isValid() ? caller : undefined;
  }

  async #byPassword({ user: name, password, client }: Login): Promise<UserRecord | undefined> {
    // No account has an empty password; an imported hash may be one of it.
    if (password === '') return undefined;
    // The user name may contain the password's part up to a colon: HTTP Basic has both in one text.
    const [given, right] = [`${name}:${password}`, `${this.#configured?.user}:${this.#configured?.password}`].map(digest);
    const isInConfiguration = this.#configured !== undefined && this.#configured.password !== '';
    if (isInConfiguration && timingSafeEqual(given as Buffer, right as Buffer)) return this.administrator;
    if (isInConfiguration && name === this.#configured?.user) {
      await this.#verifyHash(password, undefined, client);
      return undefined;
    }
    const user = this.store.userNamed(name);
    if (!(await this.#verifyHash(password, user?.hash, client)) || !user) return undefined;
    if (!this.passwords.isOld(user.hash)) return user;
    const hash = await this.passwords.hash(password);
    const current = this.store.find('user', user.user_id);
    // The password may have been changed while the old one was verified.
    return current?.hash === user.hash ? this.store.put('user', { ...current, hash }) : current;
  }

  /** Verifies a hash. Where no account has one, all names are refused alike without work. */
  async #verifyHash(password: string, hash: string | undefined, client: string): Promise<boolean> {
    const hashes = this.store.list('user').map((user) => user.hash);
    if (hashes.every((one) => one === '')) return false;
    return this.passwords.verify(password, hash, client, hashes.some(isBcrypt));
  }

  #byToken(token: string): Caller | undefined {
    const record = this.store.tokenOf(hashOfToken(token));
    if (!record) return undefined;
    const caller = this.#callerOf(record.user_id, { token: record });
    if (!caller.isValid()) return undefined;
    this.#noteUse(record);
    return caller;
  }

  /** Notes the use of a token, at most once in ten minutes. A note that cannot be written is left out. */
  #noteUse(record: TokenRecord): void {
    const { last_used_at = null } = record;
    if (last_used_at !== null && Date.now() - Date.parse(`${last_used_at}Z`) < useNoteMs) return;
    this.store.put('token', { ...record, last_used_at: now() }).catch(() => undefined);
  }

  /** Makes the caller of a login. The account is looked up at each use: what is changed counts at once. */
  #callerOf(
    userId: string,
    {
      version,
      expiresAt = Infinity,
      token,
    }: { readonly version?: string; readonly expiresAt?: number; readonly token?: TokenRecord },
  ): Caller {
    const ends = token?.expires_at ? Date.parse(`${token.expires_at}Z`) : expiresAt;
    const first = this.findUser(userId);
    const isSuperAdmin = () => this.findUser(userId)?.is_superadmin ?? false;
    return {
      userId,
      username: first?.username ?? '',
      get isSuperAdmin() {
        return isSuperAdmin() && !token?.privileges && !token?.path;
      },
      ...(token && { tokenId: token.token_id }),
      may: (privilege, path) =>
        isInScope(token, privilege, path) &&
        decide(this.store.index, { userId, isSuperAdmin: isSuperAdmin() }, privilege, path).allowed,
      onChange: (listener) => this.store.onChange(listener),
      keepList: (privilege, list, filter) => {
        const key = [userId, token?.token_id, isSuperAdmin(), privilege].join();
        return this.#lists.of(key, { list, rights: this.store.index }, filter);
      },
      joinPools: (source, copy) => joinPools(this.store, source, copy),
      isValid: () => {
        const user = this.findUser(userId);
        if (!user?.is_active || Date.now() >= ends) return false;
        return token ? this.store.find('token', token.token_id) !== undefined : this.#versionOf(user) === version;
      },
    };
  }

  /** Returns the version of a user's logins; the password of the configuration is part of it. */
  #versionOf(user: UserRecord): string {
    if (!this.isConfigured(user)) return String(user.token_version);
    return `${user.token_version}.${this.#fingerprint}`;
  }

  #asConfigured(user: UserRecord): UserRecord {
    return this.isConfigured(user) ? { ...user, is_superadmin: true, is_active: true } : user;
  }

  #newAdministrator(): UserRecord {
    const at = now();
    return {
      user_id: this.#administratorId,
      username: this.#configured?.user ?? 'admin',
      email: null,
      full_name: 'Super Administrator',
      is_active: true,
      is_superadmin: true,
      last_login: null,
      hash: '',
      token_version: 0,
      created_at: at,
      updated_at: at,
    };
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export function hashOfToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function isInScope(token: TokenRecord | undefined, privilege: Privilege, path: string): boolean {
  if (!token) return true;
  if (token.privileges && !token.privileges.includes(privilege)) return false;
  const within = path.startsWith(copiesPath) ? '/projects' : path;
  return token.path === null || within === token.path || within.startsWith(token.path === '/' ? '/' : `${token.path}/`);
}
