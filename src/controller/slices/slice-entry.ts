/** What is stored of a slice, by the id of its compute. Tokens and secrets are stored as hashes; the compute's password is in `computes.json`. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Finding } from '../../schema/finding.ts';
import type { SliceNeeds } from '../engines/engine.ts';

export interface SliceEntry {
  readonly name: string;
  /** 0 until it has joined; grows when its lease is lost. */
  readonly epoch: number;
  /** `left`: it has said that nothing of it runs any more, or its engine has. */
  readonly state: 'invited' | 'joined' | 'lost' | 'left';
  /** Why it is lost or has left. */
  readonly reason: string | null;
  readonly isDraining: boolean;
  readonly invitation: { readonly hash: string; readonly expiresAt: string } | null;
  /** Of the secret that it chose when it joined. */
  readonly secretHash: string | null;
  readonly findings: readonly Finding[];
  readonly order: StoredOrder | null;
}

/** How it was ordered of an engine. */
export interface StoredOrder {
  readonly engine: string;
  readonly projectId: string;
  readonly needs: SliceNeeds;
}

export const invited: Omit<SliceEntry, 'name' | 'invitation'> = {
  epoch: 0,
  state: 'invited',
  reason: null,
  isDraining: false,
  secretHash: null,
  findings: [],
  order: null,
};

/** 256 bits, and the id of the compute. The prefix makes it recognizable to scanners of leaked secrets. */
export function newToken(computeId: string): string {
  return `pbj_${randomBytes(32).toString('base64url')}_${computeId}`;
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function isSecret(hash: string | null, secret: string): boolean {
  return hash !== null && timingSafeEqual(Buffer.from(hash, 'hex'), Buffer.from(hashOf(secret), 'hex'));
}

/** The journal may have been changed by anything. */
export function isEntry(value: unknown): value is SliceEntry {
  const { name, epoch, state, invitation, secretHash, findings } = (value ?? {}) as Partial<Record<keyof SliceEntry, unknown>>;
  const isHash = (text: unknown) => text === null || (typeof text === 'string' && /^[0-9a-f]{64}$/.test(text));
  const { hash, expiresAt } = (invitation ?? { hash: null, expiresAt: '' }) as { hash?: unknown; expiresAt?: unknown };
  if (typeof name !== 'string' || !Number.isSafeInteger(epoch) || !isHash(secretHash) || !isHash(hash)) return false;
  return typeof expiresAt === 'string' && Array.isArray(findings) && ['invited', 'joined', 'lost', 'left'].includes(String(state));
}
