import assert from 'node:assert/strict';
import { lstat, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ownNodeFolder } from './run-as.ts';

const skip = process.getuid?.() !== 0 && 'only root can give files to another user';

test('the folder of a node and all in it become the user’s, and nothing to which a link leads', { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-run-as-'));
  t.after(() => rm(folder, { recursive: true }));
  const outside = join(folder, 'outside');
  const node = join(folder, 'node');
  await mkdir(node);
  await writeFile(outside, '');
  await writeFile(join(node, 'startup.vpc'), '');
  await symlink(outside, join(node, 'link'));
  const runAs = { user: '61100', uid: '61100', gid: '61100', limits: [] };
  const check = async (names: readonly string[]) => {
    await ownNodeFolder(runAs, node);
    for (const name of names) assert.equal((await lstat(join(node, name))).uid, 61_100, name);
    assert.equal((await stat(outside)).uid, 0);
  };
  await check(['', 'startup.vpc', 'link']);
  await mkdir(join(node, 'inner'));
  await writeFile(join(node, 'inner', 'file'), '');
  await symlink(outside, join(node, 'inner', 'link'));
  await check(['inner', 'inner/file', 'inner/link']);
  await rm(node, { recursive: true });
  await assert.rejects(ownNodeFolder(runAs, node), { code: 'run_as_failed' });
});
