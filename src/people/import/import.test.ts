/** The import of a GNS3 3 server's accounts: all or nothing, repeatable, and no more rights here than there. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, it } from 'node:test';
import { Gns3Database, gns3Schema } from '../../../test/support/gns3-database.ts';
import { fixedId } from '../../lib/fixed-id.ts';
import { Accounts } from '../accounts.ts';
import { createUser } from '../routes/user-routes.ts';
import { PeopleStore } from '../store.ts';
import { type ImportPlan, planImport } from './plan-import.ts';
import { readGns3Accounts } from './read-gns3.ts';
import { ImportRefused } from './sqlite-rows.ts';

const folder = await mkdtemp(join(tmpdir(), 'import-'));
after(() => rm(folder, { recursive: true }));
let count = 0;
let path: string;
let dataDirectory: string;
beforeEach(() => {
  count += 1;
  path = join(folder, `${count}.db`);
  dataDirectory = join(folder, `data-${count}`);
});

function fill(make: (database: Gns3Database) => void, schema?: string): void {
  const database = new Gns3Database(path, schema);
  make(database);
  database.close();
}

const configured = { user: 'boss', password: 'of the configuration' };
/** Cost of new hashes: these tests are about who is admitted. */
const cost = { N: 2 ** 10, r: 8, p: 1 };
const open = async () => Accounts.open(await PeopleStore.open(dataDirectory), { configured, cost });
const said = ({ lines }: ImportPlan) => lines.map(({ kind, name, action, note }) => `${kind} ${name}: ${action} ${note}`.trim());

async function refused(reason: RegExp): Promise<void> {
  const accounts = await open();
  const before = JSON.stringify(accounts.store.list('user'));
  await assert.rejects(planOf(accounts), (error: Error) => {
    assert.ok(error instanceof ImportRefused, error.stack);
    assert.match(error.message, reason);
    return true;
  });
  assert.equal(JSON.stringify(accounts.store.list('user')), before);
  await accounts.store.close();
}

async function planOf(accounts: Accounts): Promise<ImportPlan> {
  return planImport(await readGns3Accounts(path), {
    store: accounts.store,
    users: accounts.listUsers(),
    at: '2026-01-01T00:00:00',
  });
}

it('users, groups, roles, entries and pools are imported once, and decide as they did', async () => {
  const [inPool, beside] = [randomUUID(), randomUUID()];
  const ids: Record<string, string> = {};
  fill((database) => {
    ids.erin = database.user('erin', 'erins-password', { email: 'erin@example.net' });
    ids.off = database.user('off', 'offs-password', { is_active: 0 });
    const students = database.group('students', [ids.erin, ids.off]);
    database.group('Users', [ids.erin], 1);
    const operator = database.role('Operator', ['Node.PowerMgmt', 'Node.Audit', 'Cloud.Fly']);
    database.role('Auditor', ['Project.Audit'], 1);
    const user = database.role('User', ['Project.Audit', 'Project.Modify'], 1);
    database.entry({ group: students }, operator, `/projects/${beside}`);
    database.entry({ user: ids.erin }, operator, `/projects/${beside}/nodes/locked`, 0);
    const pool = database.pool('lab 1', [inPool]);
    database.entry({ user: ids.erin }, user, `/pools/${pool}`);
  });
  const first = await open();
  const made = await planOf(first);
  assert.deepEqual(said(made), [
    'user erin: create',
    'user off: create disabled',
    'group students: create with 2 members',
    'group Users: add with 1 more members',
    'role Operator: create without unknown privileges: Cloud.Fly',
    'role Auditor: exists with other privileges than in the file, which stay',
    'role User: exists with other privileges than in the file, which stay',
    'pool lab 1: create with 1 projects',
    `entry grants on /projects/${beside}: create`,
    `entry refuses on /projects/${beside}/nodes/locked: create`,
    `entry grants on ${made.lines.at(-1)?.name.slice('grants on '.length)}: create`,
  ]);
  assert.deepEqual(made.administrators, []);
  await first.store.putAll(made.records);
  await first.store.close();

  const second = await open();
  const caller = await second.signIn({ user: 'erin', password: 'erins-password', client: '10.0.0.1' });
  assert.equal(caller?.userId, ids.erin);
  assert.deepEqual(
    [
      caller?.may('Node.PowerMgmt', `/projects/${beside}/nodes/x`),
      caller?.may('Node.PowerMgmt', `/projects/${beside}/nodes/locked`),
      caller?.may('Project.Audit', `/projects/${inPool}`),
      caller?.may('Project.Audit', `/projects/${beside}`),
    ],
    [true, false, true, false],
  );
  assert.equal(await second.signIn({ user: 'off', password: 'offs-password', client: '10.0.0.2' }), undefined);
  assert.deepEqual(second.store.get('group', fixedId('group Users')).members, [ids.erin]);
  const again = await planOf(second);
  assert.equal(again.records.size, 0);
  assert.deepEqual(new Set(again.lines.map(({ action }) => action)), new Set(['exists']));
  await second.store.close();
});

it('an import that was cut off is completed by the next one', async () => {
  fill((database) => {
    const users = ['anna', 'berta', 'clara'].map((name) => database.user(name, undefined));
    const group = database.group('class', users);
    const role = database.role('Reader', ['Project.Audit']);
    database.entry({ group }, role, '/projects');
  });
  const empty = await open();
  const whole = await planOf(empty);
  await empty.store.close();
  const all = [...whole.records];
  for (const length of all.keys()) {
    dataDirectory = join(folder, `cut-${length}`);
    const accounts = await open();
    await accounts.store.putAll(new Map(all.slice(0, length)));
    await accounts.store.putAll((await planOf(accounts)).records);
    for (const [key, record] of all) {
      const [kind = '', id = ''] = key.split('/');
      assert.deepEqual(accounts.store.find(kind as 'user', id), record, `${length}: ${key}`);
    }
    await accounts.store.close();
  }
});

it('super admins are named, and an empty hash or a default password admits no one', async () => {
  fill((database) => {
    database.user('admin', 'admin', { is_superadmin: 1 });
    database.user('chief', 'chiefs-password', { is_superadmin: 1 });
    database.user('blank', undefined);
    database.user('strange', undefined, { hashed_password: '$argon2id$v=19$m=65536' });
  });
  const accounts = await open();
  const made = await planOf(accounts);
  assert.deepEqual(made.administrators, ['admin', 'chief']);
  assert.deepEqual(said(made).slice(0, 4), [
    "user admin: create BECOMES SUPER ADMIN; its password is GNS3's default: set a new one",
    'user chief: create BECOMES SUPER ADMIN',
    'user blank: create without a password: set one',
    'user strange: create its password is stored in an unknown way: set a new one',
  ]);
  await accounts.store.putAll(made.records);
  for (const [user, password] of [
    ['admin', 'admin'],
    ['blank', ''],
    ['blank', 'x'],
    ['strange', '$argon2id$v=19$m=65536'],
  ] as const)
    assert.equal(await accounts.signIn({ user, password, client: `10.0.1.${user.length}` }), undefined, user);
  const chief = await accounts.signIn({ user: 'chief', password: 'chiefs-password', client: '10.0.1.1' });
  assert.equal(chief?.isSuperAdmin, true);
  await accounts.store.close();
});

it('what has the name of another account here is left out, with its rights', async () => {
  fill((database) => {
    const role = database.role('Reader', ['Project.Audit']);
    const [boss, erin, free] = ['boss', 'erin', 'free'].map((name) => database.user(name, undefined, { is_superadmin: 1 }));
    database.user('no name!', undefined);
    const group = database.group('class', [boss, erin, free] as string[]);
    database.entry({ user: String(erin) }, role, '/');
    database.entry({ user: String(erin) }, role, '/projects', 0);
    database.entry({ user: randomUUID() }, role, '/');
    database.entry({ group }, role, '/projects/../etc');
  });
  const accounts = await open();
  await createUser(accounts, { username: 'erin', password: 'of-this-server' });
  const made = await planOf(accounts);
  assert.deepEqual(made.administrators, ['free']);
  assert.deepEqual(said(made), [
    'user boss: leave out another account has this name',
    'user erin: leave out another account has this name',
    'user free: create BECOMES SUPER ADMIN; without a password: set one',
    'user no name!: leave out no valid name',
    'group class: create with 1 members',
    'role Reader: create',
    'entry grants on /: leave out its user is left out',
    'entry refuses on /projects: leave out its user is left out',
    'entry grants on /: leave out its user is not in the file',
    'entry grants on /projects/../etc: leave out its path is not valid',
  ]);
  await accounts.store.close();
});

it('a refusal that cannot be kept stops the import', async () => {
  fill((database) => {
    const group = database.group('students', []);
    database.entry({ group }, database.role('Reader', ['Project.Audit']), '/projects', 0);
  });
  const accounts = await open();
  const group = accounts.store.get('group', fixedId('group Users'));
  await accounts.store.put('group', { ...group, user_group_id: randomUUID(), name: 'students', is_builtin: false });
  await accounts.store.close();
  await refused(/refuses on '\/projects' would be left out: its group is left out/);
});

for (const [what, damage, reason] of [
  [
    'an id that is none',
    (one: Gns3Database) => one.run("UPDATE users SET user_id = 'x'"),
    /user_id in row 1 of "users" is not a UUID/,
  ],
  ['a flag that is none', (one: Gns3Database) => one.run('UPDATE acl SET allowed = 2'), /allowed in row 1 of "acl" is not 0 or 1/],
  ['a name that is a number', (one: Gns3Database) => one.run("UPDATE roles SET name = x'00ff'"), /name in row 1 of "roles"/],
  ['a huge name', (one: Gns3Database) => one.run("UPDATE user_groups SET name = printf('%.*c', 5000, 'x')"), /up to 1000 char/],
  ['escape sequences', (one: Gns3Database) => one.run("UPDATE users SET full_name = char(27) || '[2J'"), /without control char/],
  ['an entry of neither kind', (one: Gns3Database) => one.run("UPDATE acl SET ace_type = 'all'"), /not user or group/],
  [
    'a view that never ends',
    (one: Gns3Database) => {
      one.run('DROP TABLE users');
      one.run(
        'CREATE VIEW users AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x user_id, x username, x hash, 1 is_active, 1 is_superadmin FROM n',
      );
    },
    /no table with the columns user_id, username/,
  ],
  [
    'a computed column',
    (one: Gns3Database) => {
      one.run('DROP TABLE users');
      one.run('CREATE TABLE users (user_id, username, hash, is_active, is_superadmin, email AS (zeroblob(500000000)))');
    },
    /no table with the columns user_id, username/,
  ],
  ['two tables of users', (one: Gns3Database) => one.run('CREATE TABLE more AS SELECT * FROM users'), /several tables/],
  [
    'two accounts of one id',
    (one: Gns3Database) => {
      one.run('CREATE TABLE copy AS SELECT * FROM user_groups');
      one.run('INSERT INTO copy SELECT user_group_id, name || 2, is_builtin, null, null FROM user_groups');
      one.run('DROP TABLE user_groups');
    },
    /has group\/.* twice/,
  ],
  [
    'too many rows',
    (one: Gns3Database) =>
      one.run(
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 20001) INSERT INTO resources SELECT x, x, 'project', null, null FROM n",
      ),
    /more than 20000 rows/,
  ],
] as const)
  it(`a file with ${what} is refused`, async () => {
    fill((database) => {
      const user = database.user('erin', undefined);
      database.group('students', [user]);
      database.entry({ user }, database.role('Reader', ['Project.Audit']), '/');
      damage(database);
    });
    await refused(reason);
  });

it('a file that is no database, a part of one, and a missing one are refused', async () => {
  await refused(/cannot be read: ENOENT/);
  await writeFile(path, 'not a database');
  await refused(/is no SQLite database/);
  await writeFile(path, `SQLite format 3\0${'x'.repeat(5000)}`);
  await refused(/cannot be read as a database/);
  await rm(path);
  fill(() => undefined, 'CREATE TABLE users (user_id, name)');
  await refused(/no table with the columns/);
  await rm(path);
  fill(() => undefined, gns3Schema);
  await writeFile(`${path}-wal`, 'changes');
  await refused(/end the GNS3 server/);
});
