/** Tools that read hostile files, on a server that is root: what they are and what they reach, asked from inside. */
import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { contractHost } from '../../../test/support/contract-bench.ts';
import { emulatorUser } from '../../../test/support/other-user.ts';
import type { Settings } from '../../schema/settings.ts';
import { ConfinedTools } from './confined-tools.ts';

const needsRoot = process.getuid?.() !== 0 && 'only root can choose the user of a process';
const user = await emulatorUser();
const owner = { user: String(user), uid: String(user), gid: String(user), limits: [] };
let folder: string;
let settings: Settings;
let tools: ConfinedTools;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-tools-'));
});
beforeEach(async () => {
  settings = contractHost(folder, 31_940).settings;
  tools = new ConfinedTools(() => settings);
  await mkdir(settings.runtimeDirectory, { recursive: true });
});
after(() => rm(folder, { recursive: true }));

const sh = (script: string, files: { reads?: string[]; writes?: string[] } = {}) =>
  tools.run('sh', ['-c', script], { ...files, timeoutMs: 20_000 });

async function file(name: string, mode: number): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, name);
  await chmod(path, mode);
  return path;
}
const ownerOf = async (path: string) => (await stat(path)).uid;

test('a tool is another user without privileges, and within limits', { skip: needsRoot }, async () => {
  const { stdout } = await sh(
    'id -u; id -G; grep -E "^(CapEff|CapBnd|NoNewPrivs)" /proc/self/status; ulimit -c; ulimit -v; ulimit -n',
  );
  const [uid, groups, ...rest] = stdout.trim().split('\n');
  assert.deepEqual([uid, groups], [String(user), String(user)]);
  assert.match(rest.join('\n'), /CapEff:\s+0{16}\n.*\nNoNewPrivs:\s+1\n0\n8388608\n\d+$/);
  assert.ok(Number(rest.at(-1)) <= 65_536);
});

test('it reads and writes the files that are named, though they and their folder are closed to it, and no other', {
  skip: needsRoot,
}, async () => {
  const [read, written, other] = [await file('read', 0o600), await file('written', 0o600), await file('other', 0o600)];
  const script = `cat ${read}; echo new > ${written}; cat ${other}; echo x > ${folder}/made; cat /etc/shadow; true`;
  const { stdout, stderr } = await sh(script, { reads: [read], writes: [written] });
  assert.equal(stdout, 'read');
  assert.match(stderr, /other.*\n.*made.*\n.*shadow/);
  assert.equal((await stat(written)).size, 4);
  // Readable for everybody, so that only the folder keeps it out.
  assert.equal((await sh(`cat ${await file('open', 0o644)}; true`)).stdout, '');
  assert.deepEqual(await Promise.all([read, written].map(ownerOf)), [0, 0]);
  assert.deepEqual(await readdir(settings.runtimeDirectory), []);
});

test('a file that several use at once is returned when the last one has ended', { skip: needsRoot }, async () => {
  const [path, first] = [await file('shared', 0o600), join(folder, 'first')];
  await mkdir(first, { mode: 0o777 });
  await chmod(first, 0o777);
  const waiting = sh(`touch ${first}/began; while [ ! -e ${first}/go ]; do sleep 0.02; done; cat ${path}`, {
    reads: [path],
    writes: [first],
  });
  while ((await readdir(first)).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal((await sh(`cat ${path}`, { reads: [path] })).stdout, 'shared');
  assert.equal(await ownerOf(path), user);
  await writeFile(join(first, 'go'), '');
  assert.equal((await waiting).stdout, 'shared');
  assert.equal(await ownerOf(path), 0);
});

test('without another user it runs as the server', async () => {
  settings = { ...settings, Server: { ...settings.Server, run_as: 'root' } };
  assert.equal((await sh('id -u')).stdout.trim(), String(process.getuid?.()));
});

test('a link that an emulator put in place of a file lends nothing, nor does one that replaces a folder while the tool runs', {
  skip: needsRoot,
}, async () => {
  const secret = await file('secret', 0o600);
  const node = join(folder, 'node');
  await mkdir(join(node, 'inner'), { recursive: true });
  await symlink(secret, join(node, 'disk'));
  await writeFile(join(node, 'inner', 'disk'), '', { mode: 0o600 });
  await chown(node, user, user);
  await assert.rejects(sh('true', { writes: [join(node, 'disk')] }), { name: 'Fault', message: /node\/disk is a symbolic link/ });
  await assert.rejects(tools.giveFile(owner, join(node, 'disk')), { message: /node\/disk is a symbolic link/ });
  assert.equal(await ownerOf(secret), 0);
  // The folder of a lent file is replaced by one that leads elsewhere: the file is returned, not what has its name by then.
  const began = join(folder, 'began');
  await mkdir(began);
  await chmod(began, 0o777);
  const waiting = sh(`touch ${began}/x; while [ ! -e ${began}/go ]; do sleep 0.02; done`, {
    writes: [join(node, 'inner', 'disk'), began],
  });
  while ((await readdir(began)).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await rename(join(node, 'inner'), join(node, 'moved'));
  await mkdir(join(node, 'inner'));
  await writeFile(join(node, 'inner', 'disk'), '');
  await chown(join(node, 'inner', 'disk'), user, user);
  await writeFile(join(began, 'go'), '');
  await waiting;
  assert.deepEqual(await Promise.all(['moved', 'inner'].map((name) => ownerOf(join(node, name, 'disk')))), [0, user]);
});

test('a file that was lent when the server was killed is returned by the next one; one given for good stays', {
  skip: needsRoot,
}, async () => {
  const [path, given, busy] = [await file('cut off', 0o600), await file('given', 0o600), join(folder, 'busy')];
  await mkdir(busy);
  await chmod(busy, 0o777);
  const waiting = sh(`touch ${busy}/x; while [ ! -e ${busy}/go ]; do sleep 0.02; done`, { writes: [path, given, busy] });
  while ((await readdir(busy)).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await tools.giveFile(owner, given);
  assert.deepEqual(await Promise.all([path, given].map(ownerOf)), [user, user]);
  // The first one never comes to return it, as far as the second one sees.
  const next = new ConfinedTools(() => settings);
  await next.recover();
  assert.deepEqual(await Promise.all([path, given].map(ownerOf)), [0, user]);
  await writeFile(join(busy, 'go'), '');
  await waiting;
  assert.deepEqual(await Promise.all([path, given].map(ownerOf)), [0, user]);
});
