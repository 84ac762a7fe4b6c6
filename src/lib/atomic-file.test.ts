import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { removeHalfWritten, writeFileAtomic } from './atomic-file.ts';

test('nothing is written through what lies under the temporary name', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-atomic-'));
  t.after(() => rm(folder, { recursive: true }));
  const [path, outside] = [join(folder, 'file'), join(folder, 'outside')];
  await writeFile(outside, 'kept');
  for (const make of [() => symlink(outside, `${path}.tmp`), () => mkdir(`${path}.tmp`), () => writeFile(`${path}.tmp`, 'half')]) {
    await make();
    await writeFileAtomic(path, 'new');
    assert.equal(await readFile(path, 'utf8'), 'new');
    assert.equal(await readFile(outside, 'utf8'), 'kept');
    assert.deepEqual((await readdir(folder)).sort(), ['file', 'outside']);
  }
});

test('what a killed process left of a file is removed, and nothing else is', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-atomic-'));
  t.after(() => rm(folder, { recursive: true }));
  const others = ['.own-list.json', 'list.json.tmp', '.own-now.json.tmp', '.own-folder.tmp'];
  await mkdir(join(folder, '.own-folder.tmp'));
  for (const name of ['.own-list.json.tmp', ...others]) {
    const path = join(folder, name);
    if (name !== '.own-folder.tmp') await writeFile(path, 'half');
    // The name with `now` is of this process.
    if (!name.includes('now')) await utimes(path, 1, 1);
  }
  await removeHalfWritten(folder, '.own-');
  assert.deepEqual((await readdir(folder)).toSorted(), others.toSorted());
});
