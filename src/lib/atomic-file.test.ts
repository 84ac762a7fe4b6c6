import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeFileAtomic, writeNewFiles } from './atomic-file.ts';

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

test('new files are written whole, and a file that is there already is left as it is', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-new-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeNewFiles(folder, { text: 'one', pieces: [Buffer.from('two '), Buffer.from('three')], empty: '' });
  const read = () => Promise.all(['text', 'pieces', 'empty'].map((name) => readFile(join(folder, name), 'utf8')));
  assert.deepEqual(await read(), ['one', 'two three', '']);
  await assert.rejects(writeNewFiles(folder, { text: 'other' }), { code: 'EEXIST' });
  assert.deepEqual(await read(), ['one', 'two three', '']);
});
