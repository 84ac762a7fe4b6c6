/** `patchbay user`, `group`, `role` and `acl`: on a running server, and on the data folder of one that does not run or refuses to. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, it } from 'node:test';
import { Gns3Database } from '../support/gns3-database.ts';
import { RawClient } from '../support/raw-http.ts';
import { type RunningServer, serverProgram, startServer } from '../support/server.ts';
import { createProject } from '../support/with-server.ts';

const root = resolve(import.meta.dirname, '../..');
const boss = { user: 'boss', password: 'of the configuration' };
const config = { Server: { auth: true, ...boss } };
let dataDir: string;
let server: RunningServer;
before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pb-'));
  server = await startServer({ dataDir, config });
});
after(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true });
});

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command as the administrator, or as the user given. */
async function patchbay(
  line: string,
  { input = '', as = boss, env = {} }: { input?: string; as?: typeof boss; env?: Record<string, string> } = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [serverProgram, ...line.split(' ')], {
    cwd: root,
    env: {
      ...process.env,
      NO_COLOR: '1',
      PATCHBAY_URL: server.url,
      PATCHBAY_USER: as.user,
      PATCHBAY_PASSWORD: as.password,
      ...env,
    },
    stdio: 'pipe',
  });
  child.stdin.on('error', () => undefined).end(input);
  const texts = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.err += text));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { code, ...texts };
}

async function done(line: string, input?: string): Promise<string> {
  const ran = await patchbay(line, input === undefined ? {} : { input });
  assert.equal(ran.code, 0, `${line}: ${ran.out}${ran.err}`);
  return ran.out;
}

async function refused(line: string, input?: string): Promise<string> {
  const ran = await patchbay(line, input === undefined ? {} : { input });
  assert.deepEqual([ran.code, ran.out], [1, ''], `${line}: ${ran.err}`);
  return ran.err;
}

const erin = { user: 'erin', password: 'erins-password' };
const clientOf = ({ user, password }: typeof boss) =>
  new RawClient(server.url, { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` });
const statusFor = async (login: typeof boss) => (await clientOf(login).send('GET /v3/access/users/me')).status;
const offline = () => `--data-dir ${dataDir} --config ${join(dataDir, 'test-config.ini')}`;

it('accounts are made, disabled and enabled, with passwords from standard input only', async () => {
  assert.match(await done('user add erin --full-name Erin', `${erin.password}\n`), /^erin was created, without rights\n$/);
  assert.match(await done('user list'), /^erin +Erin +active\n/m);
  assert.equal(await statusFor(erin), 200);
  assert.match(await refused('user add erin', erin.password), /'erin' exists already/);
  assert.match(await refused('user add frank', 'short'), /password/);
  assert.match(await refused('user add frank'), /no password was given/);
  assert.match(await refused('user add frank --password long-enough'), /--password/);
  assert.match(await refused('user passwd boss', 'another-password'), /configuration/);
  assert.match(await refused('user disable absent'), /no user 'absent'; there are boss, erin/);
  await done('user disable erin');
  assert.equal(await statusFor(erin), 401);
  await done('user enable erin');
  await done('user passwd erin', 'another-of-erin\n');
  assert.equal(await statusFor(erin), 401);
  await done('user passwd erin', erin.password);
  assert.equal(await statusFor(erin), 200);
});

it('a password typed at a terminal is asked for twice and not shown', async () => {
  const command = [process.execPath, serverProgram, 'user', 'passwd', 'erin'].map((word) => `'${word}'`).join(' ');
  const { user: PATCHBAY_USER, password: PATCHBAY_PASSWORD } = boss;
  const type = async (answers: readonly string[]) => {
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: root,
      env: { ...process.env, PATCHBAY_URL: server.url, PATCHBAY_USER, PATCHBAY_PASSWORD },
      stdio: 'pipe',
    });
    let shown = '';
    const waiting = [...answers];
    let asked = 0;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      const questions = shown.match(/: /g)?.length ?? 0;
      for (; asked < questions; asked++) child.stdin.write(`${waiting.shift() ?? ''}\r`);
    });
    const code = await new Promise<number | null>((ended) => child.once('close', ended));
    return { code, shown };
  };
  const set = await type(['typed-of-erix\x7fn', 'typed-of-erin']);
  assert.equal(set.code, 0, set.shown);
  assert.doesNotMatch(set.shown, /typed/);
  assert.equal(await statusFor({ user: 'erin', password: 'typed-of-erin' }), 200);
  const different = await type([erin.password, 'something-else']);
  assert.match(different.shown, /differ: nothing was changed/);
  await done('user passwd erin', erin.password);
});

it('groups, roles and entries say who may do what, and why', async () => {
  const admin = clientOf(boss);
  const project = await createProject(admin, { name: 'hers' });
  const path = `/projects/${project.id}`;
  await done('group add students');
  assert.match(await done('group members students --add erin'), /^erin +Erin\n/m);
  assert.match(await refused('group members students --add erin --remove absent'), /no user 'absent'/);
  assert.match(await done('role list'), /^Auditor +\d+ /m);
  assert.match(await refused('acl add students Nothing / --group'), /no role 'Nothing'; there are Administrator/);
  assert.match(await refused('acl add students User /nothing --group'), /No route has the path/);
  const before = await patchbay(`acl explain erin GET /v2${path}`);
  assert.deepEqual([before.code, before.err], [1, '']);
  assert.match(before.out, /^erin may not send GET .*\nNo entry with Project\.Audit applies/);
  assert.equal(await done(`acl add students User ${path} --group`), `students is granted User on ${path}\n`);
  assert.match(await done('acl list'), new RegExp(`^group +students +User +${path} +grants `, 'm'));
  assert.match(await done(`acl explain erin GET /v2${path}`), /^erin may send .*\nThe entry of the group 'students' on /);
  assert.equal((await clientOf(erin).send(`GET /v2${path}`)).status, 200);
  const [{ ace_id }] = JSON.parse(await done('acl list --json'));
  await done(`acl remove ${ace_id}`);
  assert.equal(await done('acl list --json'), '[]\n');
  assert.equal((await clientOf(erin).send(`GET /v2${path}`)).status, 404);
  assert.match(await refused(`acl remove ${ace_id}`), /does not exist/);
});

it('a token is printed alone, limited as asked for, and revoked', async () => {
  const made = await patchbay('user token --name ci --days 3 --privilege Project.Audit', { as: erin });
  assert.equal(made.code, 0, made.err);
  const token = made.out.trim();
  assert.match(token, /^pbt_\S+$/);
  const bearer = async () =>
    (await new RawClient(server.url, { authorization: `Bearer ${token}` }).send('GET /v3/access/users/me')).status;
  assert.equal(await bearer(), 200);
  const listed = await patchbay('user token --list --json', { as: erin });
  const [{ token_id, name }] = JSON.parse(listed.out);
  assert.equal(name, 'ci');
  assert.equal((await patchbay(`user token --revoke ${token_id}`, { as: erin })).code, 0);
  assert.equal(await bearer(), 401);
});

it('a data folder is left alone while its server runs, and serves commands when it does not', async () => {
  assert.match(await refused(`user list ${offline()}`), /is in use by process \d+/);
  await server.terminate();
  assert.match(await done(`user list ${offline()}`), /^erin +Erin +active/m);
  await done(`user passwd erin ${offline()}`, 'set-without-server');
  await done(`group members students --add erin ${offline()}`);
  await server.restart();
  assert.equal(await statusFor({ user: 'erin', password: 'set-without-server' }), 200);
  assert.match(await done('group members students'), /^erin/m);
  await done('group add brief');
  assert.equal(await done('group remove brief'), 'The group brief is deleted\n');
  assert.match(await refused('group remove Users'), /built in/);
  await done('user add frank', 'franks-password');
  await done('user remove frank');
  assert.match(await refused('user remove boss'), /cannot be deleted/);
  await done('user passwd erin', erin.password);
});

it('a broken account store keeps the server shut and is repaired by a command, with nothing lost', async () => {
  await server.terminate();
  const folder = join(dataDir, 'people');
  const file = join(folder, 'people.log');
  const text = await readFile(file, 'utf8');
  const damaged = text.replace('"students"', '"sabotage"');
  assert.notEqual(damaged, text);
  await writeFile(file, damaged);
  const sentence = /cannot be read .*patchbay user repair --data-dir/;
  await assert.rejects(server.restart(), sentence);
  assert.match(await refused(`user list ${offline()}`), sentence);
  assert.equal(await readFile(file, 'utf8'), damaged);
  assert.match(await done(`user repair ${offline()}`), /records are kept; .*\n\d+ could not be read/);
  const [aside = ''] = (await readdir(folder)).filter((name) => name.includes('.damaged-'));
  assert.equal(await readFile(join(folder, aside), 'utf8'), damaged);
  assert.match(await done(`user repair ${offline()}`), /nothing was changed/);
  await server.restart();
  assert.equal(await statusFor(erin), 200);
});

it('the accounts of a GNS3 3 server are imported while no server runs, and log in with their passwords', async () => {
  const file = join(dataDir, 'gns3_controller.db');
  const database = new Gns3Database(file);
  const old = { user: 'old-hand', password: 'of-the-old-server' };
  database.user('admin', 'admin', { is_superadmin: 1 });
  const user = database.user(old.user, old.password);
  database.entry({ user }, database.role('User', ['Project.Audit'], 1), '/projects');
  database.close();
  const line = `user import ${file} ${offline()}`;
  assert.match(await refused(line), /is in use by process/);
  await server.terminate();
  const without = await patchbay(line, { env: { NODE_OPTIONS: '--no-experimental-sqlite' } });
  assert.equal(without.code, 1);
  assert.match(without.err, /needs node:sqlite, which Node .* does not have: use Node 22\.13 or newer/);
  const plan = await done(`${line} --dry-run`);
  assert.match(plan, /^user +admin +create +BECOMES SUPER ADMIN; its password is GNS3's default/m);
  assert.match(plan, /^Super admins by this import: admin\nNothing was changed/m);
  assert.doesNotMatch(await done(`user list ${offline()}`), /old-hand/);
  assert.match(await done(line), /^3 records were written$/m);
  assert.match(await done(line), /^0 records were written$/m);
  await server.restart();
  assert.equal(await statusFor({ user: 'admin', password: 'admin' }), 401);
  assert.equal(await statusFor({ user: old.user, password: '' }), 401);
  assert.equal(await statusFor(old), 200);
  assert.equal((await clientOf(old).send('GET /v3/projects')).status, 200);
  assert.match(await readFile(join(dataDir, 'people/people.log'), 'utf8'), /"username":"old-hand".*"hash":"scrypt\$/);
});
