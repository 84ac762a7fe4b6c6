/** Access tokens and refresh tokens: JWT, HS256, signed with a key that only the server's user may read. */
import { createHmac, randomBytes } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import { jwtVerify, SignJWT } from 'jose';
import { writeFileAtomic } from '../lib/atomic-file.ts';
import { readRegularFile } from '../lib/regular-file.ts';
import { isDamage, setAside, type Warn } from '../lib/set-aside.ts';

/** GNS3's settings: a day, and thirty days. Seconds. */
const lives = { access: 86_400, refresh: 30 * 86_400 } as const;

type TokenType = keyof typeof lives;

interface TokenClaims {
  readonly userId: string;
  readonly version: string;
  /** Ms since 1970. */
  readonly expiresAt: number;
}

export class AccessTokens {
  readonly #key: Uint8Array;

  /** `key`: 64 hexadecimal digits. */
  constructor(key: string) {
    this.#key = Buffer.from(key, 'hex');
  }

  /** Returns a text by which a secret is recognized, which cannot be guessed from it without the key. */
  fingerprint(secret: string): string {
    return createHmac('sha256', this.#key).update(secret).digest('base64url').slice(0, 12);
  }

  sign(type: TokenType, user: { readonly user_id: string; readonly username: string }, version: string): Promise<string> {
    return new SignJWT({ type, uid: user.user_id, ver: version })
      .setProtectedHeader({ typ: 'JWT', alg: 'HS256' })
      .setSubject(user.username)
      .setExpirationTime(Math.floor(Date.now() / 1000) + lives[type])
      .sign(this.#key);
  }

  /** Returns the claims of a token that is valid and has not expired. */
  async verify(type: TokenType, token: string): Promise<TokenClaims | undefined> {
    try {
      const { payload } = await jwtVerify(token, this.#key, { algorithms: ['HS256'], requiredClaims: ['sub', 'exp'] });
      const { uid, ver, exp = 0 } = payload;
      if (payload.type !== type || typeof uid !== 'string' || typeof ver !== 'string') return undefined;
      return { userId: uid, version: ver, expiresAt: exp * 1000 };
    } catch {
      return undefined;
    }
  }
}

/** Makes a key of 256 bits. */
export const newKey = (): string => randomBytes(32).toString('hex');

/** Longest file of a key that is read. */
const mostKeyBytes = 1_000;

/** Reads the key, or makes it. What holds none is set aside: all tokens have ended then. */
export async function readKey(path: string, warn: Warn): Promise<string> {
  const text = await readRegularFile(path, mostKeyBytes).then(String, (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    if (!isDamage(error)) throw error;
    return '';
  });
  if (text !== undefined && /^[0-9a-f]{64}$/i.test(text.trim())) {
    await chmod(path, 0o600);
    return text.trim();
  }
  if (text !== undefined) warn(`${path} holds no key of 64 hexadecimal digits. It was moved to ${await setAside(path)}`);
  const key = newKey();
  await writeFileAtomic(path, `${key}\n`, 0o600);
  return key;
}
