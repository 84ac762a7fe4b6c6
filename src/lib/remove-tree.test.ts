import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { removeTree } from './remove-tree.ts';

const folder = await mkdtemp(join(tmpdir(), 'pb-remove-'));
after(() => rm(folder, { recursive: true, force: true }));

test('a folder goes with all that is in it, and nothing that its links lead to', async () => {
  const outside = join(folder, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'kept'), 'text');
  const tree = join(folder, 'tree');
  await mkdir(join(tree, 'a', 'b', 'empty'), { recursive: true });
  await Promise.all(Array.from({ length: 200 }, (_, at) => writeFile(join(tree, 'a', `${at}`), '')));
  await symlink(outside, join(tree, 'a', 'link'));
  await symlink('nowhere', join(tree, 'a', 'b', 'dangling'));
  await removeTree(tree);
  assert.deepEqual(await readdir(folder), ['outside']);
  assert.equal(await readFile(join(outside, 'kept'), 'utf8'), 'text');
});

test('files, links to folders and names of nothing', async () => {
  await writeFile(join(folder, 'file'), '');
  await symlink(join(folder, 'outside'), join(folder, 'link'));
  for (const name of ['file', 'link', 'missing', 'missing/child']) await removeTree(join(folder, name));
  assert.deepEqual(await readdir(folder), ['outside']);
  assert.deepEqual(await readdir(join(folder, 'outside')), ['kept']);
});

test('files that are made meanwhile are removed as well', async () => {
  const busy = join(folder, 'busy');
  await mkdir(busy);
  await Promise.all(Array.from({ length: 500 }, (_, at) => writeFile(join(busy, `${at}`), '')));
  const removing = removeTree(busy);
  await writeFile(join(busy, 'late'), '').catch(() => undefined);
  await removing;
  assert.deepEqual(await readdir(folder), ['outside']);
});

test('a wide and deep tree goes', async () => {
  const tree = join(folder, 'wide');
  const paths = Array.from({ length: 60 }, (_, at) => join(tree, `${at}`, 'a', 'b', 'c'));
  for (const path of paths) await mkdir(path, { recursive: true });
  await Promise.all(paths.map((path) => writeFile(join(path, 'file'), '')));
  await removeTree(tree);
  assert.deepEqual(await readdir(folder), ['outside']);
});
