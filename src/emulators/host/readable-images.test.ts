/** Images with the modes and owners that archives, uploads and administrators leave. */
import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { allows } from './file-access.ts';
import { makeReadable } from './readable-images.ts';
import type { RunAs } from './run-as.ts';

const runAs: RunAs = { user: '61100', uid: '61100', gid: '61100', limits: [] };
const needsRoot = process.getuid?.() !== 0 && 'only root can choose owners';
let folder: string;
let images: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-'));
  images = join(folder, 'QEMU');
  await mkdir(images);
});
after(() => rm(folder, { recursive: true }));

const modes = [0o700, 0o600, 0o644, 0o640, 0o004, 0o400, 0o000, 0o4755];
const owners = [
  [0, 0],
  [1000, 1000],
  [1000, 61100],
  [61100, 1000],
] as const;

test('each image below its folders is made readable, whatever its mode and owner, and executable where it is for its owner', {
  skip: needsRoot,
}, async () => {
  for (const mode of modes)
    for (const [uid, gid] of owners) {
      const path = join(images, `${mode.toString(8)}-${uid}-${gid}.qcow2`);
      await writeFile(path, 'image');
      await chown(path, uid, gid);
      await chmod(path, mode);
      const before = await stat(path);
      await makeReadable(runAs, [path], { folders: [images], need: 0o5 });
      const facts = await stat(path);
      assert.ok(allows(runAs, facts, 0o4), path);
      if (!allows(runAs, before, 0o1)) assert.equal(allows(runAs, facts, 0o1), (mode & 0o100) !== 0, path);
      assert.deepEqual([facts.uid, facts.gid], [uid, gid]);
      if (allows(runAs, before, 0o5)) assert.equal(facts.mode, before.mode);
      else
        assert.equal(facts.mode & 0o7222, before.mode & 0o222, 'nothing may be written by more users, or with rights of the owner');
    }
});

test('a file outside the folders, also behind a link, stays as it is', { skip: needsRoot }, async () => {
  const secret = join(folder, 'secret');
  await writeFile(secret, 'of the host', { mode: 0o600 });
  const linked = join(images, 'linked.qcow2');
  await symlink(secret, linked);
  await makeReadable(runAs, [secret, linked, join(images, 'absent'), images], { folders: [images], need: 0o4 });
  assert.equal((await stat(secret)).mode & 0o777, 0o600);
});
