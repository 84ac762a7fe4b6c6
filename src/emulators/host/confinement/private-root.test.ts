import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makePrivateRoot } from './private-root.ts';

test('a library whose path leads upwards has its mount point inside of the folder', async (t) => {
  const top = await mkdtemp(join(tmpdir(), 'pb-root-'));
  t.after(() => rm(top, { recursive: true }));
  const outside = join(top, 'lib.so');
  await writeFile(outside, 'kept');
  const folder = join(top, 'deep', 'root');
  const library = '/usr/../../../lib.so';
  const mounts = await makePrivateRoot({ folder, program: '/bin/true', libraries: [library], work: top });
  assert.equal(await readFile(outside, 'utf8'), 'kept');
  assert.equal((await stat(join(folder, 'lib.so'))).size, 0);
  assert.equal(mounts.find(({ source }) => source === library)?.target, join(folder, 'lib.so'));
});
