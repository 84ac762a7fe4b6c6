import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { removeTemporary } from './stream-file.ts';

test('what a killed process left of its files is removed, also in folders below, and nothing else is', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-stream-file-'));
  t.after(() => rm(folder, { recursive: true }));
  const left = ['.0123456789ab.tmp', 'sub/deep/.ba9876543210.tmp'];
  const others = ['disk.img', 'sub/.0123.tmp', 'sub/0123456789ab.tmp'];
  for (const name of [...left, ...others, 'sub/.aaaaaaaaaaaa.tmp']) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), '');
    // The name with `aaaa` is of this process.
    if (!name.includes('aaaa')) await utimes(join(folder, name), 1, 1);
  }
  // Files of others may lie behind a symbolic link.
  const elsewhere = await mkdtemp(join(tmpdir(), 'pb-stream-file-'));
  t.after(() => rm(elsewhere, { recursive: true }));
  await writeFile(join(elsewhere, '.0123456789ab.tmp'), '');
  await utimes(join(elsewhere, '.0123456789ab.tmp'), 1, 1);
  await symlink(elsewhere, join(folder, 'elsewhere'));
  await removeTemporary(folder);
  assert.deepEqual(await readdir(elsewhere), ['.0123456789ab.tmp']);
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = files.filter((file) => file.isFile()).map(({ name }) => name);
  assert.deepEqual(names.toSorted(), ['.0123.tmp', '.aaaaaaaaaaaa.tmp', '0123456789ab.tmp', 'disk.img']);
});
