/**
 * Reads the accounts in the database of a GNS3 3 installation (`gns3_controller.db`, SQLite). Tables are recognized by their columns, which
 * have the names of the API's fields. The file may come from anywhere: it is opened read-only, views, virtual tables and computed columns
 * are not read, and sizes, rows and texts are limited.
 */
import { open, stat } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import { columnsOfTables, ImportRefused, rowsOf, type SqlRow } from './sqlite-rows.ts';

export interface Gns3User {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly fullName: string | null;
  readonly isActive: boolean;
  readonly isSuperAdmin: boolean;
  readonly hash: string;
}

interface Gns3Named {
  readonly id: string;
  readonly name: string;
}

interface Gns3Role extends Gns3Named {
  readonly description: string | null;
  readonly isBuiltin: boolean;
}

export interface Gns3Entry {
  readonly id: string;
  readonly type: 'user' | 'group';
  readonly path: string;
  readonly propagate: boolean;
  readonly allowed: boolean;
  readonly userId: string | null;
  readonly groupId: string | null;
  readonly roleId: string;
}

/** Pairs of ids: of a member and its group, a privilege and its role, a resource and its pool. */
export type Gns3Pairs = readonly (readonly [string, string])[];

export interface Gns3Accounts {
  readonly users: readonly Gns3User[];
  readonly groups: readonly (Gns3Named & { readonly isBuiltin: boolean })[];
  readonly members: Gns3Pairs;
  readonly roles: readonly Gns3Role[];
  readonly privileges: readonly Gns3Named[];
  readonly rolePrivileges: Gns3Pairs;
  readonly entries: readonly Gns3Entry[];
  readonly pools: readonly Gns3Named[];
  readonly resources: readonly { readonly id: string; readonly type: string }[];
  readonly poolResources: Gns3Pairs;
}

const mostFileBytes = 64 * 1024 * 1024;
const header = 'SQLite format 3\0';

/** Columns by which a table is recognized, and those that it must not have. */
const tables = {
  users: { has: ['user_id', 'username', 'is_active', 'is_superadmin'], lacks: [] },
  groups: { has: ['user_group_id', 'name', 'is_builtin'], lacks: [] },
  members: { has: ['user_id', 'user_group_id'], lacks: ['name', 'username'] },
  roles: { has: ['role_id', 'name', 'is_builtin'], lacks: [] },
  privileges: { has: ['privilege_id', 'name'], lacks: ['role_id'] },
  rolePrivileges: { has: ['privilege_id', 'role_id'], lacks: ['name'] },
  entries: { has: ['ace_id', 'ace_type', 'path', 'propagate', 'allowed', 'user_id', 'group_id', 'role_id'], lacks: [] },
  pools: { has: ['resource_pool_id', 'name'], lacks: ['resource_id'] },
  resources: { has: ['resource_id', 'resource_type'], lacks: ['resource_pool_id'] },
  poolResources: { has: ['resource_pool_id', 'resource_id'], lacks: ['name', 'resource_type'] },
} as const;

/** @throws ImportRefused with a sentence for the administrator */
export async function readGns3Accounts(path: string): Promise<Gns3Accounts> {
  await requireDatabase(path);
  const { DatabaseSync: Database } = await loadSqlite();
  let database: DatabaseSync | undefined;
  try {
    database = new Database(path, { readOnly: true, enableDoubleQuotedStringLiterals: false });
    database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA query_only = ON');
    return accountsOf(database);
  } catch (error) {
    if (error instanceof ImportRefused) throw error;
    throw new ImportRefused(`${path} cannot be read as a database: ${(error as Error).message}`);
  } finally {
    database?.close();
  }
}

/** @throws ImportRefused on a Node without SQLite */
async function loadSqlite(): Promise<typeof import('node:sqlite')> {
  return import('node:sqlite').catch(() => {
    throw new ImportRefused(
      `This needs node:sqlite, which Node ${process.versions.node} does not have: use Node 22.13 or newer, such as the one that npm installs with Patchbay`,
    );
  });
}

async function requireDatabase(path: string): Promise<void> {
  const facts = await stat(path).catch((error: Error) => {
    throw new ImportRefused(`${path} cannot be read: ${error.message}`);
  });
  if (!facts.isFile()) throw new ImportRefused(`${path} is not a file`);
  if (facts.size > mostFileBytes)
    throw new ImportRefused(`${path} has ${facts.size} bytes: a database of accounts has no more than ${mostFileBytes}`);
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(header.length), { position: 0 });
    if (buffer.toString('latin1') !== header)
      throw new ImportRefused(`${path} is no SQLite database: name gns3_controller.db of the GNS3 server`);
  } finally {
    await file.close();
  }
  for (const suffix of ['-wal', '-journal']) {
    const beside = await stat(`${path}${suffix}`).catch(() => undefined);
    if (beside && beside.size > 0)
      throw new ImportRefused(
        `${path}${suffix} holds changes that are not in ${path} yet: end the GNS3 server, and import from its folder`,
      );
  }
}

function accountsOf(database: DatabaseSync): Gns3Accounts {
  const known = columnsOfTables(database);
  const rows = (what: keyof typeof tables) => {
    const { has, lacks } = tables[what];
    const found = [...known].filter(
      ([, columns]) => has.every((one) => columns.includes(one)) && !lacks.some((one: string) => columns.includes(one)),
    );
    const [table] = found;
    if (!table || found.length > 1)
      throw new ImportRefused(
        `The file has ${found.length === 0 ? 'no table' : 'several tables'} with the columns ${has.join(', ')}: is it the database of a GNS3 3 server?`,
      );
    return rowsOf(database, table);
  };
  const pairs = (what: keyof typeof tables, first: string, second: string) =>
    rows(what).map((row) => [row.id(first), row.id(second)] as const);
  const named = (row: SqlRow, id: string) => ({ id: row.id(id), name: row.text('name') });
  return {
    users: rows('users').map(userOf),
    groups: rows('groups').map((row) => ({ ...named(row, 'user_group_id'), isBuiltin: row.flag('is_builtin') })),
    members: pairs('members', 'user_id', 'user_group_id'),
    roles: rows('roles').map((row) => ({
      ...named(row, 'role_id'),
      description: row.textOrNull('description'),
      isBuiltin: row.flag('is_builtin'),
    })),
    privileges: rows('privileges').map((row) => named(row, 'privilege_id')),
    rolePrivileges: pairs('rolePrivileges', 'privilege_id', 'role_id'),
    entries: rows('entries').map(entryOf),
    pools: rows('pools').map((row) => named(row, 'resource_pool_id')),
    resources: rows('resources').map((row) => ({ id: row.id('resource_id'), type: row.text('resource_type') })),
    poolResources: pairs('poolResources', 'resource_id', 'resource_pool_id'),
  };
}

function userOf(row: SqlRow): Gns3User {
  const [column, ...others] = row.columns.filter((name) => /password|hash/.test(name));
  if (column === undefined || others.length > 0)
    throw new ImportRefused(`The table of users has ${others.length + Number(column !== undefined)} columns of passwords, not one`);
  return {
    id: row.id('user_id'),
    name: row.text('username'),
    email: row.textOrNull('email'),
    fullName: row.textOrNull('full_name'),
    isActive: row.flag('is_active'),
    isSuperAdmin: row.flag('is_superadmin'),
    hash: row.textOrNull(column) ?? '',
  };
}

function entryOf(row: SqlRow): Gns3Entry {
  const type = row.text('ace_type');
  if (type !== 'user' && type !== 'group') throw row.wrong('ace_type', 'user or group');
  return {
    id: row.id('ace_id'),
    type,
    path: row.text('path'),
    propagate: row.flag('propagate'),
    allowed: row.flag('allowed'),
    userId: row.idOrNull('user_id'),
    groupId: row.idOrNull('group_id'),
    roleId: row.id('role_id'),
  };
}
