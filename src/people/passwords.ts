/**
 * Hashes passwords by scrypt on Node's threads, two at a time, with a queue. A hash is a text `scrypt$N$r$p$salt$key`. Hashes of bcrypt,
 * which accounts of GNS3 3 bring along, are verified and replaced. Other hashes are accepted for no password.
 */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { fault } from '../api/faults.ts';
import { FairLimit } from '../lib/fair-limit.ts';
import { bcryptDecoy, isBcrypt, verifyBcrypt } from './bcrypt.ts';

/** OWASP's parameters for scrypt with 32 MiB. Source: OWASP Password Storage Cheat Sheet. */
const standardCost: ScryptCost = { N: 2 ** 15, r: 8, p: 3 };
const keyBytes = 32;
/** Most passwords that wait for their turn, in all and of one client. */
const mostWaiting = 100;
const mostOfClient = 32;
const places = { total: 2, each: 2 };

export interface ScryptCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

export class Passwords {
  readonly #cost: ScryptCost;
  readonly #limit = new FairLimit(places);
  #waiting = 0;
  readonly #ofClient = new Map<string, number>();
  /** Hash of a random password: verified where an account has none. */
  #decoy: Promise<string> | undefined;

  /** `cost`: that of new hashes. Only tests of accounts in their own process take another one than the standard. */
  constructor(cost: ScryptCost = standardCost) {
    this.#cost = cost;
  }

  /** @throws login_busy */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(16);
    const key = await this.#run('the server', () => derive(password, salt, this.#cost));
    const { N, r, p } = this.#cost;
    return ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$');
  }

  /**
   * Verifies a password. Without a hash, or with an empty or unknown one, the same work is done and nothing is accepted. `client`: see
   * `Call.client`. `hasBcrypt`: some account has a hash of bcrypt, so the work of both kinds is done, and time does not show which
   * account it is. @throws login_busy
   */
  async verify(password: string, hash: string | undefined, client: string, hasBcrypt = false): Promise<boolean> {
    const parsed = parse(hash ?? '');
    this.#decoy ??= this.hash(randomBytes(32).toString('hex'));
    const { salt, key, parameters } = parsed ?? (parse(await this.#decoy) as ParsedHash);
    const derived = await this.#run(client, () => derive(password, salt, parameters));
    const isRight = timingSafeEqual(derived, key) && parsed !== undefined;
    if (!hasBcrypt) return isRight;
    const imported = isBcrypt(hash ?? '') ? hash : undefined;
    const isRightByBcrypt = await this.#run(client, () => verifyBcrypt(password, imported ?? bcryptDecoy));
    return isRight || (isRightByBcrypt && imported !== undefined);
  }

  /** Whether the hash is to be replaced when its password is known. */
  isOld(hash: string): boolean {
    const parameters = parse(hash)?.parameters;
    const { N, r, p } = this.#cost;
    return parameters === undefined || parameters.N !== N || parameters.r !== r || parameters.p !== p;
  }

  async #run<T>(client: string, work: () => Promise<T>): Promise<T> {
    const own = this.#ofClient.get(client) ?? 0;
    if (this.#waiting >= mostWaiting || own >= mostOfClient) throw fault('login_busy', {});
    this.#waiting += 1;
    this.#ofClient.set(client, own + 1);
    try {
      return await this.#limit.run(client, work);
    } finally {
      this.#waiting -= 1;
      const left = (this.#ofClient.get(client) ?? 1) - 1;
      if (left > 0) this.#ofClient.set(client, left);
      else this.#ofClient.delete(client);
    }
  }
}

interface ParsedHash {
  readonly parameters: ScryptCost;
  readonly salt: Buffer;
  readonly key: Buffer;
}

/** Returns undefined for a hash that this server did not write: parameters are limited, because an imported hash may name any. */
function parse(hash: string): ParsedHash | undefined {
  const [, N = '', r = '', p = '', salt = '', key = ''] =
    /^scrypt\$(\d{1,6})\$(\d{1,2})\$(\d)\$([\w-]+)\$([\w-]{43})$/.exec(hash) ?? [];
  if (salt === '' || Number(N) * Number(r) > 2 ** 19) return undefined;
  return {
    parameters: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  };
}

function derive(password: string, salt: Buffer, parameters: ScryptCost): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const options = { ...parameters, maxmem: 256 * parameters.N * parameters.r };
  scrypt(password.normalize('NFC'), salt, keyBytes, options, (error, key) => (error ? reject(error) : resolve(key)));
  return promise;
}
