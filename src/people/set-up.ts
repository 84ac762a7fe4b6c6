/**
 * Sets the first administrator's password on a server that requires logins and has no password for anyone who may do everything. The server
 * prints a token at its start: it can be used once, within an hour, and for nothing else.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { fault } from '../api/faults.ts';
import type { Accounts } from './accounts.ts';
import { LoginDelays } from './login-delays.ts';

const validMs = 3_600_000;

interface SetUpRequest {
  readonly token: string;
  readonly password: string;
  readonly client: string;
}

export class SetUp {
  readonly #accounts: Accounts;
  readonly #delays = new LoginDelays();
  /** Hash of the token that was printed; undefined: none, or it was used. */
  #hash: Buffer | undefined;
  #endsAt = 0;

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
  }

  /** Makes the token of this start, where an administrator needs one to log in. */
  begin(): string | undefined {
    if (!this.#isNeeded) return undefined;
    const token = randomBytes(32).toString('base64url');
    this.#hash = digest(token);
    this.#endsAt = performance.now() + validMs;
    return token;
  }

  /** Sets the password. Wrong tokens are answered later and later. @throws setup_refused, too_many_logins, login_busy */
  async finish({ token, password, client }: SetUpRequest): Promise<void> {
    const given = digest(token);
    if (!this.#delays.accepts(client, '')) throw fault('too_many_logins', {});
    const hash = this.#hash;
    const isOpen = performance.now() < this.#endsAt && this.#isNeeded;
    if (!hash || !timingSafeEqual(given, hash) || !isOpen) {
      await this.#delays.failed(client, '', given);
      throw fault('setup_refused', {});
    }
    // A second request with the token is refused while the password is hashed.
    this.#hash = undefined;
    try {
      const { store, passwords } = this.#accounts;
      const hashed = await passwords.hash(password);
      const { administrator } = this.#accounts;
      await store.put('user', { ...administrator, hash: hashed, token_version: administrator.token_version + 1 });
    } catch (error) {
      this.#hash = hash;
      throw error;
    }
  }

  get #isNeeded(): boolean {
    const accounts = this.#accounts;
    if (!accounts.isClosed || accounts.isConfigured(accounts.administrator, 'password')) return false;
    return !accounts.listUsers().some((user) => user.is_superadmin && user.is_active && user.hash !== '');
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
