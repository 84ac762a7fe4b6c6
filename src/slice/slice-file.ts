/** Stores the identity of a slice in its data folder, so that a restarted slice is the same compute. */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../lib/atomic-file.ts';
import type { Log } from '../lib/log.ts';
import { readOwnJson } from '../lib/set-aside.ts';

interface SliceIdentity {
  /** Id at the controller; null: the slice has not joined yet. */
  readonly computeId: string | null;
  /** Secret chosen before the first request, by which the controller recognizes a repeated request. 64 hexadecimal digits. */
  readonly secret: string;
  /** Epoch of the lease. */
  readonly epoch: number;
  /** Duration T of the lease, seconds. */
  readonly seconds: number;
  /** The engine's word renews the lease while the controller is away. */
  readonly asksEngine: boolean;
  /** SHA-256 of the token with which the slice joined. */
  readonly joinedWith: string;
}

export class SliceFile {
  readonly #path: string;
  #identity: SliceIdentity;

  private constructor(path: string, identity: SliceIdentity) {
    this.#path = path;
    this.#identity = identity;
  }

  /** Reads or creates the identity; resolves when it is on disk. */
  static async open(stateDirectory: string, log: Log): Promise<SliceFile> {
    await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
    const path = join(stateDirectory, 'slice.json');
    const stored = await readOwnJson(path, identityOf, (message) => log.error(message));
    const file = new SliceFile(
      path,
      stored ?? { computeId: null, secret: newSecret(), epoch: 0, seconds: 1, asksEngine: false, joinedWith: '' },
    );
    if (!stored) await file.set({});
    return file;
  }

  get identity(): SliceIdentity {
    return this.#identity;
  }

  async set(change: Partial<SliceIdentity>): Promise<void> {
    const next = { ...this.#identity, ...change };
    await writeFileAtomic(this.#path, `${JSON.stringify(next)}\n`, 0o600);
    this.#identity = next;
  }
}

function identityOf(value: unknown): SliceIdentity {
  const {
    computeId,
    secret,
    epoch,
    seconds,
    asksEngine = false,
    joinedWith = '',
  } = value as Partial<Record<keyof SliceIdentity, unknown>>;
  const isId = computeId === null || typeof computeId === 'string';
  if (
    !isId ||
    typeof secret !== 'string' ||
    !/^[0-9a-f]{64}$/.test(secret) ||
    !Number.isSafeInteger(epoch) ||
    !(Number(seconds) > 0)
  )
    throw new Error('it is no identity of a slice');
  const lease = { epoch: Number(epoch), seconds: Number(seconds), asksEngine: asksEngine === true };
  return { computeId, secret, ...lease, joinedWith: String(joinedWith) };
}

export function newSecret(): string {
  return randomBytes(32).toString('hex');
}
