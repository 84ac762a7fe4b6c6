import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeFileAtomic } from './atomic-file.ts';

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
