import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeFolders } from './make-folders.ts';

it('makes folders that others are making at the same time', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'pb-'));
  t.after(() => rm(root, { recursive: true }));
  for (let round = 0; round < 50; round += 1) {
    const paths = ['x', 'y', 'z'].map((name) => join(root, String(round), 'a', 'b', name));
    await Promise.all(paths.map(makeFolders));
    for (const path of paths) assert.ok((await stat(path)).isDirectory());
  }
});
