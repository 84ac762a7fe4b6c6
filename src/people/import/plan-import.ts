/**
 * Plans the import of GNS3's accounts: which records are made, which exist already, and what is left out, with the reason. Ids are kept, so
 * an import can be repeated. A refusal is never left out: without it an account could do more here than there.
 */
import { isPrivilege, type Privilege } from '../../schema/privilege.ts';
import { isBcrypt, verifyBcrypt } from '../bcrypt.ts';
import {
  type GroupRecord,
  isAccountName,
  type PoolRecord,
  type RecordKind,
  type Records,
  type RoleRecord,
  type UserRecord,
} from '../records.ts';
import type { PeopleStore } from '../store.ts';
import type { Gns3Accounts, Gns3Entry, Gns3Pairs, Gns3User } from './read-gns3.ts';
import { ImportRefused } from './sqlite-rows.ts';

type ImportAction = 'create' | 'add' | 'exists' | 'leave out';

interface ImportLine {
  readonly kind: RecordKind;
  readonly name: string;
  readonly action: ImportAction;
  /** Empty where the action says it all. */
  readonly note: string;
}

export interface ImportPlan {
  readonly lines: readonly ImportLine[];
  /** Names of users who become super admins. */
  readonly administrators: readonly string[];
  /** Records to write, by kind and id. */
  readonly records: ReadonlyMap<string, Records[RecordKind]>;
}

interface ImportTarget {
  readonly store: PeopleStore;
  /** Users that exist, among them that of the configuration. */
  readonly users: readonly UserRecord[];
  /** Time of the new records. */
  readonly at: string;
}

/** Passwords with which GNS3 creates its first administrator. */
const defaultPassword = 'admin';
/** Most super admins of a file: a check of each one's password takes some hundred milliseconds. */
const mostSuperAdmins = 50;
const entryPath = /^(?:\/|(?:\/[\w-]+)+)$/;

/** @throws ImportRefused where something that refuses would be left out */
export async function planImport(accounts: Gns3Accounts, target: ImportTarget): Promise<ImportPlan> {
  const planner = new ImportPlanner(accounts, target);
  await planner.planUsers();
  planner.planGroups();
  planner.planRoles();
  planner.planPools();
  planner.planEntries();
  return planner.plan;
}

class ImportPlanner {
  readonly #accounts: Gns3Accounts;
  readonly #target: ImportTarget;
  readonly #lines: ImportLine[] = [];
  readonly #administrators: string[] = [];
  readonly #records = new Map<string, Records[RecordKind]>();
  /** Ids of the file to ids here; what is left out is missing. */
  readonly #users = new Set<string>();
  readonly #groups = new Map<string, string>();
  readonly #roles = new Map<string, string>();
  /** Ids of users, groups and roles in the file. */
  readonly #inFile: ReadonlySet<string>;

  constructor(accounts: Gns3Accounts, target: ImportTarget) {
    this.#accounts = accounts;
    this.#target = target;
    const { users, groups, roles } = accounts;
    this.#inFile = new Set([...users, ...groups, ...roles].map(({ id }) => id));
    if (users.filter(({ isSuperAdmin }) => isSuperAdmin).length > mostSuperAdmins)
      throw new ImportRefused(`The file has more than ${mostSuperAdmins} super admins. Nothing was imported`);
  }

  get plan(): ImportPlan {
    return { lines: this.#lines, administrators: this.#administrators, records: this.#records };
  }

  async planUsers(): Promise<void> {
    const { users, at } = this.#target;
    const names = new Map(users.map((user) => [user.username, user.user_id]));
    const ids = new Set(users.map(({ user_id }) => user_id));
    const addresses = new Set(users.map(({ email }) => email?.toLowerCase()));
    for (const user of this.#accounts.users) {
      const { id, name } = user;
      if (ids.has(id)) {
        this.#users.add(id);
        this.#say('user', name, 'exists');
      } else if (names.has(name)) this.#say('user', name, 'leave out', 'another account has this name');
      else if (!isAccountName(name)) this.#say('user', name, 'leave out', 'no valid name');
      else {
        const { hash, notes } = await passwordOf(user);
        const isTaken = user.email !== null && addresses.has(user.email.toLowerCase());
        if (isTaken) notes.push('without its e-mail address, which another account has');
        const email = isTaken ? null : user.email;
        addresses.add(email?.toLowerCase());
        names.set(name, id);
        ids.add(id);
        this.#users.add(id);
        if (user.isSuperAdmin) this.#administrators.push(name);
        this.#put('user', {
          user_id: id,
          username: name,
          email,
          full_name: user.fullName,
          is_active: user.isActive,
          is_superadmin: user.isSuperAdmin,
          last_login: null,
          hash,
          token_version: 0,
          created_at: at,
          updated_at: at,
        });
        if (user.isSuperAdmin) notes.unshift('BECOMES SUPER ADMIN');
        if (!user.isActive) notes.push('disabled');
        this.#say('user', name, 'create', notes.join('; '));
      }
    }
  }

  planGroups(): void {
    const { store, at } = this.#target;
    const members = collect(this.#accounts.members);
    const names = new Set(store.list('group').map(({ name }) => name));
    for (const { id, name, isBuiltin } of this.#accounts.groups) {
      const same = store.find('group', id) ?? this.#builtin('group', name, isBuiltin);
      if (!same && names.has(name)) {
        this.#say('group', name, 'leave out', 'another group has this name');
        continue;
      }
      const group: GroupRecord = same ?? {
        user_group_id: id,
        name,
        is_builtin: false,
        members: [],
        created_at: at,
        updated_at: at,
      };
      names.add(name);
      this.#groups.set(id, group.user_group_id);
      const added = [...(members.get(id) ?? [])].filter((one) => this.#users.has(one) && !group.members.includes(one));
      const note = added.length === 0 ? '' : `with ${added.length} ${same ? 'more ' : ''}members`;
      if (!same || added.length > 0) this.#put('group', { ...group, members: [...group.members, ...added], updated_at: at });
      this.#say('group', name, same ? (added.length > 0 ? 'add' : 'exists') : 'create', note);
    }
  }

  planRoles(): void {
    const { store, at } = this.#target;
    const privilegeNames = new Map(this.#accounts.privileges.map(({ id, name }) => [id, name]));
    const names = new Set(store.list('role').map(({ name }) => name));
    const ofRoles = collect(this.#accounts.rolePrivileges);
    for (const { id, name, description, isBuiltin } of this.#accounts.roles) {
      const all = [...(ofRoles.get(id) ?? [])].map((one) => privilegeNames.get(one) ?? one);
      const privileges = all.filter((one): one is Privilege => isPrivilege(one));
      const unknown = all.filter((one) => !isPrivilege(one));
      const same: RoleRecord | undefined = store.find('role', id) ?? this.#builtin('role', name, isBuiltin);
      if (same) {
        this.#roles.set(id, same.role_id);
        const both = new Set([...privileges, ...same.privileges]).size;
        const differs = both !== privileges.length || both !== same.privileges.length;
        this.#say('role', name, 'exists', differs ? 'with other privileges than in the file, which stay' : '');
      } else if (names.has(name)) this.#say('role', name, 'leave out', 'another role has this name');
      else {
        names.add(name);
        this.#roles.set(id, id);
        const role = { role_id: id, name, description, is_builtin: false, privileges, created_at: at, updated_at: at };
        this.#put('role', role);
        this.#say(
          'role',
          name,
          'create',
          unknown.length > 0 ? `without unknown privileges: ${unknown.slice(0, 10).join(', ')}` : '',
        );
      }
    }
  }

  planPools(): void {
    const { store, at } = this.#target;
    const names = new Set(store.list('pool').map(({ name }) => name));
    const projects = new Set(this.#accounts.resources.filter(({ type }) => type === 'project').map(({ id }) => id));
    const ofPools = collect(this.#accounts.poolResources);
    for (const { id, name } of this.#accounts.pools) {
      const same = store.find('pool', id);
      // A project in a pool is decided by the entries on its pools alone: without the pool, others could count.
      if (!same && names.has(name))
        throw new ImportRefused(`Another pool has the name '${name}': rename it, and import then. Nothing was imported`);
      names.add(name);
      const pool: PoolRecord = same ?? { resource_pool_id: id, name, projects: [], created_at: at, updated_at: at };
      const inFile = [...(ofPools.get(id) ?? [])];
      const added = inFile.filter((one) => projects.has(one) && !pool.projects.some(({ project_id }) => project_id === one));
      const others = inFile.filter((one) => !projects.has(one)).length;
      const notes = [
        ...(added.length > 0 ? [`with ${added.length} ${same ? 'more ' : ''}projects`] : []),
        ...(others > 0 ? [`without ${others} resources that are no projects`] : []),
      ];
      if (!same || added.length > 0) {
        const more = added.map((project_id) => ({ project_id, at }));
        this.#put('pool', { ...pool, projects: [...pool.projects, ...more], updated_at: at });
      }
      this.#say('pool', name, same ? (added.length > 0 ? 'add' : 'exists') : 'create', notes.join('; '));
    }
  }

  planEntries(): void {
    const { store, at } = this.#target;
    for (const entry of this.#accounts.entries) {
      const { id, type, path, propagate, allowed } = entry;
      const name = `${allowed ? 'grants' : 'refuses'} on ${path}`;
      if (store.find('entry', id)) {
        this.#say('entry', name, 'exists');
        continue;
      }
      const reason = this.#reasonAgainst(entry);
      if (reason !== undefined) {
        this.#say('entry', name, 'leave out', reason);
        continue;
      }
      const user_id = type === 'user' ? entry.userId : null;
      const group_id = type === 'group' ? (this.#groups.get(entry.groupId ?? '') ?? null) : null;
      const role_id = this.#roles.get(entry.roleId) ?? '';
      this.#put('entry', {
        ace_id: id,
        ace_type: type,
        path,
        propagate,
        allowed,
        user_id,
        group_id,
        role_id,
        created_at: at,
        updated_at: at,
      });
      this.#say('entry', name, 'create');
    }
  }

  /** Returns why an entry is left out. @throws ImportRefused for one that refuses something to an account that exists here */
  #reasonAgainst(entry: Gns3Entry): string | undefined {
    const subject = entry.type === 'user' ? entry.userId : entry.groupId;
    if (!this.#inFile.has(subject ?? '')) return `its ${entry.type} is not in the file`;
    if (!this.#inFile.has(entry.roleId)) return 'its role is not in the file';
    if (entry.type === 'user' && !this.#users.has(subject ?? '')) return 'its user is left out';
    const reason = !entryPath.test(entry.path)
      ? 'its path is not valid'
      : entry.type === 'group' && !this.#groups.has(subject ?? '')
        ? 'its group is left out'
        : this.#roles.has(entry.roleId)
          ? undefined
          : 'its role is left out';
    if (reason !== undefined && !entry.allowed)
      throw new ImportRefused(
        `The entry that refuses on '${entry.path}' would be left out: ${reason}. Rename what has its name here. Nothing was imported`,
      );
    return reason;
  }

  #builtin<K extends 'group' | 'role'>(kind: K, name: string, isBuiltin: boolean): Records[K] | undefined {
    return isBuiltin ? this.#target.store.list(kind).find((one) => one.is_builtin && one.name === name) : undefined;
  }

  #put<K extends RecordKind>(kind: K, record: Records[K]): void {
    const key = this.#target.store.keyOf(kind, record);
    if (this.#records.has(key)) throw new ImportRefused(`The file has ${key} twice. Nothing was imported`);
    this.#records.set(key, record);
  }

  #say(kind: RecordKind, name: string, action: ImportAction, note = ''): void {
    this.#lines.push({ kind, name, action, note });
  }
}

/** Second ids of the pairs to the first ones. */
function collect(pairs: Gns3Pairs): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const [one, of] of pairs) {
    const known = found.get(of) ?? new Set();
    found.set(of, known.add(one));
  }
  return found;
}

/** Returns the hash that is kept. GNS3 logs in an account without one by any password, and its first administrator by a known one. */
async function passwordOf({ hash, isSuperAdmin }: Gns3User): Promise<{ hash: string; notes: string[] }> {
  if (hash === '') return { hash, notes: ['without a password: set one'] };
  if (!isBcrypt(hash)) return { hash: '', notes: ['its password is stored in an unknown way: set a new one'] };
  if (isSuperAdmin && (await verifyBcrypt(defaultPassword, hash)))
    return { hash: '', notes: ["its password is GNS3's default: set a new one"] };
  return { hash, notes: [] };
}
