/** Records of the account store, as they are on disk. Times are UTC, ISO, to the second, without a zone, as GNS3 writes them. */
import { isPrivilege, type Privilege } from '../schema/privilege.ts';

/** Rule for names of users and groups. GNS3 checks their length and their tail. */
export const accountNameRule = { minLength: 3, maxLength: 200, pattern: '[a-zA-Z0-9_-]+$' };
const { minLength, maxLength, pattern } = accountNameRule;
export const isAccountName = (name: string): boolean =>
  name.length >= minLength && name.length <= maxLength && new RegExp(pattern).test(name);

interface Dated {
  readonly created_at: string;
  readonly updated_at: string;
}

export interface UserRecord extends Dated {
  readonly user_id: string;
  readonly username: string;
  readonly email: string | null;
  readonly full_name: string | null;
  readonly is_active: boolean;
  readonly is_superadmin: boolean;
  readonly last_login: string | null;
  /** See `passwords.ts`; empty: no password is accepted. */
  readonly hash: string;
  /** Grows when all logins of the user are to end. */
  readonly token_version: number;
}

export interface GroupRecord extends Dated {
  readonly user_group_id: string;
  readonly name: string | null;
  readonly is_builtin: boolean;
  /** Ids of users. */
  readonly members: readonly string[];
}

export interface RoleRecord extends Dated {
  readonly role_id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly is_builtin: boolean;
  readonly privileges: readonly Privilege[];
}

export interface EntryRecord extends Dated {
  readonly ace_id: string;
  readonly ace_type: 'user' | 'group';
  readonly path: string;
  readonly propagate: boolean;
  readonly allowed: boolean;
  readonly user_id: string | null;
  readonly group_id: string | null;
  readonly role_id: string;
}

export interface PoolRecord extends Dated {
  readonly resource_pool_id: string;
  readonly name: string;
  /** Projects of the pool, with the time of their addition. */
  readonly projects: readonly { readonly project_id: string; readonly at: string }[];
}

export interface TokenRecord {
  readonly token_id: string;
  readonly user_id: string;
  readonly name: string;
  /** SHA-256 of the token, base64url. */
  readonly hash: string;
  /** Restricts what the token may do; null: all that its user may. */
  readonly privileges: readonly Privilege[] | null;
  readonly path: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  /** Time of its last use that was noted; absent before the first one. */
  readonly last_used_at?: string;
}

export interface Records {
  user: UserRecord;
  group: GroupRecord;
  role: RoleRecord;
  entry: EntryRecord;
  pool: PoolRecord;
  token: TokenRecord;
}

export type RecordKind = keyof Records;

const text = (value: unknown) => typeof value === 'string';
const flag = (value: unknown) => typeof value === 'boolean';
const textOrNull = (value: unknown) => value === null || text(value);
const texts = (value: unknown) => Array.isArray(value) && value.every(text);
const someOf = (value: unknown) => Array.isArray(value) && value.every((one) => text(one) && isPrivilege(one as string));

type Check = (value: unknown) => boolean;

/** RecordKind to the name of its id, and the checks of its fields. */
export const kinds: {
  readonly [K in RecordKind]: { readonly id: keyof Records[K] & string; readonly fields: Readonly<Record<string, Check>> };
} = {
  user: {
    id: 'user_id',
    fields: {
      user_id: text,
      username: text,
      email: textOrNull,
      full_name: textOrNull,
      is_active: flag,
      is_superadmin: flag,
      last_login: textOrNull,
      hash: text,
      token_version: Number.isSafeInteger,
    },
  },
  group: { id: 'user_group_id', fields: { user_group_id: text, name: textOrNull, is_builtin: flag, members: texts } },
  role: {
    id: 'role_id',
    fields: { role_id: text, name: textOrNull, description: textOrNull, is_builtin: flag, privileges: someOf },
  },
  entry: {
    id: 'ace_id',
    fields: {
      ace_id: text,
      ace_type: (value) => value === 'user' || value === 'group',
      path: text,
      propagate: flag,
      allowed: flag,
      user_id: textOrNull,
      group_id: textOrNull,
      role_id: text,
    },
  },
  pool: {
    id: 'resource_pool_id',
    fields: {
      resource_pool_id: text,
      name: text,
      projects: (value) => Array.isArray(value) && value.every((one) => text((one as { project_id?: unknown })?.project_id)),
    },
  },
  token: {
    id: 'token_id',
    fields: {
      token_id: text,
      user_id: text,
      name: text,
      hash: text,
      privileges: (value) => value === null || someOf(value),
      path: textOrNull,
      expires_at: textOrNull,
      last_used_at: (value) => value === undefined || text(value),
    },
  },
};

/** Whether a value of the journal is a record of its kind. */
export function isRecord(kind: string, value: unknown): boolean {
  if (!Object.hasOwn(kinds, kind) || typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  return Object.entries(kinds[kind as RecordKind].fields).every(([name, check]) => check(fields[name]));
}

/** Returns the time as GNS3 writes it: `2026-11-29T13:54:40`. */
export function now(at = new Date()): string {
  return at.toISOString().slice(0, 19);
}
