/** Stored record of a slice, by the id of its compute. Tokens and secrets are hashed; the compute's password is in `computes.json`. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { finite, flag, list, nullable, object, oneOf, optional, text, textThat, unchecked, whole } from '../../lib/shape.ts';
import type { Finding } from '../../schema/finding.ts';
import type { SliceNeeds } from '../engines/engine.ts';

export interface SliceEntry {
  readonly name: string;
  /** 0 until it has joined; grows when its lease is lost. */
  readonly epoch: number;
  /**
   * `left`: it has said that nothing of it runs any more, or its engine has. `deleted`: it was deleted, and its engine has not ended it yet;
   * clients do not see it.
   */
  readonly state: 'invited' | 'joined' | 'lost' | 'left' | 'deleted';
  /** Why it is lost or has left. */
  readonly reason: string | null;
  readonly isDraining: boolean;
  /** `hash`: of the token; once a slice has joined with it, of the token and the secret of that slice. */
  readonly invitation: { readonly hash: string; readonly expiresAt: string } | null;
  /** Hash of the secret that the slice chose when it joined. */
  readonly secretHash: string | null;
  readonly findings: readonly Finding[];
  readonly order: StoredOrder | null;
}

/** Order of the slice at an engine. */
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

/** The hash of a token that the slice with this secret has used. */
export function hashOfUse(token: string, secret: string): string {
  return hashOf(`${token} ${secret}`);
}

export function isSecret(hash: string | null, secret: string): boolean {
  return hash !== null && timingSafeEqual(Buffer.from(hash, 'hex'), Buffer.from(hashOf(secret), 'hex'));
}

const hash = textThat((value) => /^[0-9a-f]{64}$/.test(value), 'must be a SHA-256');
const image = object({ name: text, sha256: nullable(hash), size: finite });
const needs = object({ cpus: finite, memory: finite, disk: finite, kvm: flag, images: list(image) });
const entryShape = object({
  name: text,
  epoch: whole(0),
  state: oneOf('invited', 'joined', 'lost', 'left', 'deleted'),
  reason: nullable(text),
  isDraining: flag,
  invitation: nullable(
    object({ hash, expiresAt: textThat((value) => Number.isFinite(Date.parse(value)), 'must be a time of ISO 8601') }),
  ),
  secretHash: nullable(hash),
  findings: list(
    object({
      state: oneOf('good', 'note', 'missing'),
      what: text,
      found: text,
      node_types: optional(list(text)),
      required: optional(unchecked<true>()),
      package: optional(text),
    }),
  ),
  order: nullable(object({ engine: text, projectId: text, needs })),
});

/** The journal may have been changed by anything. */
export function isEntry(value: unknown): value is SliceEntry {
  return entryShape.problem(value, 'the slice') === undefined;
}
