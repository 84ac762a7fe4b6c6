/**
 * The account store: users, groups, roles, entries of the ACL, pools and personal access tokens, in memory and in one journal. A change
 * is on disk before it is answered. A damaged journal is not used: a lost record could be one that refuses something.
 */
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../api/faults.ts';
import { DurableMap } from '../lib/durable-map.ts';
import { fixedId } from '../lib/fixed-id.ts';
import { Journal, JournalDamaged } from '../lib/journal.ts';
import { makeFolders } from '../lib/make-folders.ts';
import { builtinGroups, builtinRoles } from './built-in.ts';
import { indexRights, type RightsIndex } from './decide.ts';
import { isRecord, kinds, now, type RecordKind, type Records, type TokenRecord, type UserRecord } from './records.ts';

type AnyRecord = Records[RecordKind];

/** The account store cannot be read as a whole. */
export class StoreBroken extends Error {
  override readonly name = 'StoreBroken';
  /** The file or folder that has to be moved away to begin anew. */
  readonly path: string;

  constructor(path: string, reason: string) {
    super(reason);
    this.path = path;
  }
}

const names: Readonly<Record<RecordKind, string>> = {
  user: 'user',
  group: 'group',
  role: 'role',
  entry: 'entry',
  pool: 'pool',
  token: 'token',
};

export class PeopleStore {
  /** Folder of the store, which only the server's user may read. */
  readonly folder: string;
  readonly #map: DurableMap<AnyRecord>;
  readonly #tables: { readonly [K in RecordKind]: Map<string, Records[K]> };
  readonly #userNames = new Map<string, UserRecord>();
  readonly #tokenHashes = new Map<string, TokenRecord>();
  readonly #listeners = new Set<() => void>();
  #index: RightsIndex | undefined;

  private constructor(folder: string, map: DurableMap<AnyRecord>) {
    this.folder = folder;
    this.#map = map;
    this.#tables = { user: new Map(), group: new Map(), role: new Map(), entry: new Map(), pool: new Map(), token: new Map() };
    this.#show(Array.from(map.entries(), ([key]) => key));
  }

  /** Opens the store in `<dataDirectory>/people`, and fills a new one. @throws StoreBroken; the file is not changed then */
  static async open(dataDirectory: string): Promise<PeopleStore> {
    const folder = join(dataDirectory, 'people');
    await makeFolders(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      throw new StoreBroken(folder, `${folder} is not a folder`);
    });
    await chmod(folder, 0o700);
    const path = join(folder, 'people.log');
    await Journal.read(path).catch((error: Error) => {
      if (!(error instanceof JournalDamaged)) throw error;
      throw new StoreBroken(path, error.message);
    });
    const map = await DurableMap.open<AnyRecord>(path, () => undefined);
    const wrong = [...map.entries()].find(([key, record]) => !isRecord(key.slice(0, key.indexOf('/')), record));
    if (wrong) {
      await map.close();
      throw new StoreBroken(path, `${path} cannot be read: the record ${JSON.stringify(wrong[0].slice(0, 100))} is not complete`);
    }
    const store = new PeopleStore(folder, map);
    await store.#fill();
    return store;
  }

  list<K extends RecordKind>(kind: K): Records[K][] {
    return [...this.#tables[kind].values()];
  }

  find<K extends RecordKind>(kind: K, id: string): Records[K] | undefined {
    return this.#tables[kind].get(id);
  }

  userNamed(name: string): UserRecord | undefined {
    return this.#userNames.get(name);
  }

  /** `hash`: see `TokenRecord`. */
  tokenOf(hash: string): TokenRecord | undefined {
    return this.#tokenHashes.get(hash);
  }

  /** @throws account_missing */
  get<K extends RecordKind>(kind: K, id: string): Records[K] {
    const record = this.find(kind, id);
    if (!record) throw fault('account_missing', { what: names[kind], id });
    return record;
  }

  /** Sets a record; resolves when it is on disk. Later changes begin with it at once. */
  async put<K extends RecordKind>(kind: K, record: Records[K]): Promise<Records[K]> {
    await this.#write(new Map([[this.keyOf(kind, record), record]]));
    return record;
  }

  /** Sets records by their keys, in one write; resolves when all are on disk. */
  putAll(records: ReadonlyMap<string, AnyRecord>): Promise<void> {
    return this.#write(records);
  }

  /** Returns the key of a record in the journal. */
  keyOf<K extends RecordKind>(kind: K, record: Records[K]): string {
    return `${kind}/${record[kinds[kind].id]}`;
  }

  /** Deletes a record, and with it all that names it: its entries, memberships and tokens. Resolves when that is on disk. */
  remove(kind: RecordKind, id: string): Promise<void> {
    const changes = new Map<string, AnyRecord | undefined>([[`${kind}/${id}`, undefined]]);
    for (const entry of this.list('entry')) if (nameOf(entry, kind) === id) changes.set(`entry/${entry.ace_id}`, undefined);
    if (kind === 'user') {
      for (const token of this.list('token')) if (token.user_id === id) changes.set(`token/${token.token_id}`, undefined);
      for (const group of this.list('group')) {
        const members = group.members.filter((one) => one !== id);
        if (members.length < group.members.length) changes.set(`group/${group.user_group_id}`, { ...group, members });
      }
    }
    return this.#write(changes);
  }

  /** The entries, groups and pools, indexed for decisions. */
  get index(): RightsIndex {
    this.#index ??= indexRights({
      entries: this.#tables.entry.values(),
      groups: this.#tables.group.values(),
      pools: this.#tables.pool.values(),
      findRole: (id) => this.#tables.role.get(id),
    });
    return this.#index;
  }

  /** Registers a listener for changes. Returns its removal. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): Promise<void> {
    return this.#map.close();
  }

  async #write(changes: ReadonlyMap<string, AnyRecord | undefined>): Promise<void> {
    const written = Array.from(changes, ([key, record]) => (record ? this.#map.set(key, record) : this.#map.delete(key)));
    this.#show(changes.keys());
    const results = await Promise.allSettled(written);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed === undefined) return;
    this.#show(changes.keys());
    throw failed.reason;
  }

  /** Shows what the map has for these keys: what is being written, and what is on disk where that was refused. */
  #show(keys: Iterable<string>): void {
    for (const key of keys) {
      const kind = key.slice(0, key.indexOf('/')) as RecordKind;
      const table = this.#tables[kind] as Map<string, AnyRecord>;
      const id = key.slice(kind.length + 1);
      const record = this.#map.get(key);
      this.#reindex(kind, table.get(id), record);
      if (record === undefined) table.delete(id);
      else table.set(id, record);
      if (kind !== 'user' && kind !== 'token') this.#index = undefined;
    }
    for (const listener of this.#listeners) listener();
  }

  /** Keeps the indexes of names and hashes. */
  #reindex(kind: RecordKind, before: AnyRecord | undefined, after: AnyRecord | undefined): void {
    if (kind === 'user') {
      if (before) this.#userNames.delete((before as UserRecord).username);
      if (after) this.#userNames.set((after as UserRecord).username, after as UserRecord);
    } else if (kind === 'token') {
      if (before) this.#tokenHashes.delete((before as TokenRecord).hash);
      if (after) this.#tokenHashes.set((after as TokenRecord).hash, after as TokenRecord);
    }
  }

  /** Creates what is built in and not there; what names a record that was deleted goes, too. */
  async #fill(): Promise<void> {
    const at = now();
    for (const name of builtinGroups) {
      const user_group_id = fixedId(`group ${name}`);
      if (!this.find('group', user_group_id))
        await this.put('group', { user_group_id, name, is_builtin: true, members: [], created_at: at, updated_at: at });
    }
    for (const [name, { description, privileges }] of Object.entries(builtinRoles)) {
      const role_id = fixedId(`role ${name}`);
      if (!this.find('role', role_id))
        await this.put('role', { role_id, name, description, is_builtin: true, privileges, created_at: at, updated_at: at });
    }
    for (const entry of this.list('entry')) {
      const subject = entry.ace_type === 'user' ? this.find('user', entry.user_id ?? '') : this.find('group', entry.group_id ?? '');
      if (!subject || !this.find('role', entry.role_id)) await this.remove('entry', entry.ace_id);
    }
  }
}

/** Returns the id of the kind that an entry names. */
function nameOf(entry: Records['entry'], kind: RecordKind): string | null {
  if (kind === 'user') return entry.user_id;
  if (kind === 'group') return entry.group_id;
  return kind === 'role' ? entry.role_id : null;
}
