/** The database of a GNS3 3 server, made by its facts: columns have the names of the API's fields, ids are UUIDs without dashes. */
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { hashSync } from 'bcryptjs';

const times = 'created_at DATETIME, updated_at DATETIME';
export const gns3Schema = `
CREATE TABLE users (user_id CHAR(32) PRIMARY KEY, username VARCHAR UNIQUE, email VARCHAR UNIQUE, full_name VARCHAR, hashed_password VARCHAR,
  last_login DATETIME, is_active BOOLEAN, is_superadmin BOOLEAN, ${times});
CREATE TABLE user_groups (user_group_id CHAR(32) PRIMARY KEY, name VARCHAR UNIQUE, is_builtin BOOLEAN, ${times});
CREATE TABLE user_group_map (user_id CHAR(32), user_group_id CHAR(32));
CREATE TABLE roles (role_id CHAR(32) PRIMARY KEY, name VARCHAR UNIQUE, description VARCHAR, is_builtin BOOLEAN, ${times});
CREATE TABLE privileges (privilege_id CHAR(32) PRIMARY KEY, name VARCHAR, description VARCHAR, ${times});
CREATE TABLE privilege_role_map (privilege_id CHAR(32), role_id CHAR(32));
CREATE TABLE acl (ace_id CHAR(32) PRIMARY KEY, ace_type VARCHAR, path VARCHAR, propagate BOOLEAN, allowed BOOLEAN, user_id CHAR(32),
  group_id CHAR(32), role_id CHAR(32), ${times});
CREATE TABLE resource_pools (resource_pool_id CHAR(32) PRIMARY KEY, name VARCHAR UNIQUE, ${times});
CREATE TABLE resources (resource_id CHAR(32) PRIMARY KEY, name VARCHAR, resource_type VARCHAR, ${times});
CREATE TABLE resource_pool_map (resource_id CHAR(32), resource_pool_id CHAR(32));
CREATE TABLE templates (template_id CHAR(32) PRIMARY KEY, name VARCHAR, builtin BOOLEAN, ${times});
`;

/** Cost of the hashes; GNS3 uses 12, which takes longer. */
const cost = 4;

export class Gns3Database {
  readonly #database: DatabaseSync;

  constructor(path: string, schema = gns3Schema) {
    this.#database = new DatabaseSync(path);
    // Nothing here has to survive a power cut.
    this.#database.exec(`PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; ${schema}`);
  }

  /** Inserts a row, with an id where `idColumn` names its column. Returns the id, with dashes. */
  insert(table: string, values: Readonly<Record<string, string | number | null>>, idColumn?: string): string {
    const id = randomUUID();
    const all = { ...values, ...(idColumn !== undefined && { [idColumn]: stored(id) }) };
    const columns = Object.keys(all);
    const places = columns.map(() => '?').join();
    this.#database.prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${places})`).run(...Object.values(all));
    return id;
  }

  /** `password`: undefined stores an empty hash. */
  user(username: string, password: string | undefined, values: Readonly<Record<string, string | number | null>> = {}): string {
    const hashed_password = password === undefined ? '' : hashSync(password, cost);
    const row = { username, email: null, full_name: username, hashed_password, is_active: 1, is_superadmin: 0, ...values };
    return this.insert('users', row, 'user_id');
  }

  group(name: string, members: readonly string[], is_builtin = 0): string {
    const id = this.insert('user_groups', { name, is_builtin }, 'user_group_id');
    for (const member of members) this.insert('user_group_map', { user_id: stored(member), user_group_id: stored(id) });
    return id;
  }

  role(name: string, privileges: readonly string[], is_builtin = 0): string {
    const id = this.insert('roles', { name, description: `Role ${name}`, is_builtin }, 'role_id');
    for (const privilege of privileges) {
      const found = this.#database.prepare('SELECT privilege_id FROM privileges WHERE name = ?').get(privilege);
      const privilege_id = String(found?.privilege_id ?? stored(this.insert('privileges', { name: privilege }, 'privilege_id')));
      this.insert('privilege_role_map', { privilege_id, role_id: stored(id) });
    }
    return id;
  }

  entry(subject: { readonly user?: string; readonly group?: string }, role: string, path: string, allowed = 1): string {
    const { user, group } = subject;
    const row = {
      ace_type: user === undefined ? 'group' : 'user',
      path,
      propagate: 1,
      allowed,
      user_id: user === undefined ? null : stored(user),
      group_id: group === undefined ? null : stored(group),
      role_id: stored(role),
    };
    return this.insert('acl', row, 'ace_id');
  }

  pool(name: string, projects: readonly string[]): string {
    const id = this.insert('resource_pools', { name }, 'resource_pool_id');
    for (const project of projects) {
      this.insert('resources', { resource_id: stored(project), name: 'a project', resource_type: 'project' });
      this.insert('resource_pool_map', { resource_id: stored(project), resource_pool_id: stored(id) });
    }
    return id;
  }

  run(sql: string): void {
    this.#database.exec(sql);
  }

  close(): void {
    this.#database.close();
  }
}

const stored = (id: string): string => id.replaceAll('-', '');
