import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { placeFolders } from './freeze.ts';

test('folders get their places together, or none of them', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'pb-place-'));
  t.after(() => rm(root, { recursive: true }));
  const placement = (name: string) => ({ from: join(root, 'new', name), to: join(root, name, 'memory') });
  const make = async (name: string) => {
    const { from, to } = placement(name);
    for (const [folder, content] of [
      [from, 'new'],
      [to, 'old'],
    ] as const) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, content), content);
    }
    return placement(name);
  };
  const both = [await make('one'), await make('two')];
  await placeFolders(both);
  for (const { to } of both) assert.deepEqual(await readdir(to), ['new']);
  assert.deepEqual(await readdir(join(root, 'new')), []);
  // The second one cannot be placed.
  const half = [await make('one'), placement('three'), placement('two')];
  await assert.rejects(placeFolders(half), { code: 'ENOENT' });
  for (const name of ['one', 'two']) assert.deepEqual(await readdir(join(root, name)), []);
});
