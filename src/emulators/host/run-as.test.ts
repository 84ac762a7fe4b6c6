import assert from 'node:assert/strict';
import { lstat, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { defaultSettings } from '../../schema/settings.ts';
import { findRunAs, findUserOf, isEmulators, own } from './run-as.ts';

const skip = process.getuid?.() !== 0 && 'only root can give files to another user';
const [one, other] = ['f0c3a1f6-4d5c-4f57-9e4e-1d1c5a2e7c01', 'f0c3a1f6-4d5c-4f57-9e4e-1d1c5a2e7c02'];

test('a folder and all in it become the user’s, and nothing to which a link leads', { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-run-as-'));
  t.after(() => rm(folder, { recursive: true }));
  const outside = join(folder, 'outside');
  const node = join(folder, 'node');
  await mkdir(join(node, 'inner'), { recursive: true });
  await writeFile(outside, '');
  await writeFile(join(node, 'inner', 'file'), '');
  for (const path of [join(node, 'link'), join(node, 'inner', 'link')]) await symlink(outside, path);
  await own({ user: '61100', uid: '61100', gid: '61100' }, [node]);
  for (const name of ['', 'link', 'inner', 'inner/file', 'inner/link'])
    assert.equal((await lstat(join(node, name))).uid, 61_100, name);
  assert.equal((await stat(outside)).uid, 0);
  // A single new file has all of them given.
  await writeFile(join(node, 'inner', 'new'), '');
  await own({ user: '61100', uid: '61100', gid: '61100' }, [node]);
  assert.equal((await lstat(join(node, 'inner', 'new'))).uid, 61_100);
});

test('what is the user’s takes no process, unless there is much of it', { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-run-as-'));
  const { PATH } = process.env;
  t.after(async () => {
    process.env.PATH = PATH;
    await rm(folder, { recursive: true });
  });
  const root = { user: 'root', uid: '0', gid: '0' };
  await mkdir(join(folder, 'inner'));
  process.env.PATH = folder;
  await own(root, [folder]);
  await assert.rejects(own(root, [folder, join(folder, 'absent')]), /could not be given/);
  for (let file = 0; file < 300; file += 1) await writeFile(join(folder, 'inner', `${file}`), '');
  await assert.rejects(own(root, [folder]), /could not be given/);
});

test('each node has a user of its own, always the same, which owns nothing else', { skip }, async () => {
  const settings = defaultSettings();
  const [first, again, second, tools] = await Promise.all(
    [one, one, other, undefined].map(async (id) => (await findRunAs(settings, id))?.uid),
  );
  assert.equal(first, again);
  assert.equal(new Set([first, second, tools]).size, 3);
  for (const uid of [first, second, tools]) assert.ok(isEmulators(Number(uid), { uid: '5' }), uid);
  for (const uid of [0, 1000, 65_534, 61_101, 2_147_352_576]) assert.ok(!isEmulators(uid, { uid: '5' }), String(uid));
  const named = { ...settings, Server: { ...settings.Server, run_as: 'nobody' } };
  assert.equal((await findRunAs(named, one))?.user, 'nobody');
});

test('a process that was started as another user keeps it', { skip }, async () => {
  const { user, uid, gid } = (await findUserOf(defaultSettings(), one, process.pid)) ?? {};
  assert.deepEqual([user, uid, gid], ['0', '0', '0']);
});
