import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readFile, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { copyTree } from './copy-tree.ts';

const folder = await mkdtemp(join(tmpdir(), 'pb-copy-'));
after(() => rm(folder, { recursive: true, force: true }));

test('a folder is copied with its files, links, modes and times, into one that exists as well', async () => {
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  await mkdir(join(from, 'a', 'empty'), { recursive: true });
  await Promise.all(Array.from({ length: 100 }, (_, at) => writeFile(join(from, 'a', `${at}`), `${at}`)));
  await symlink('../nowhere', join(from, 'link'));
  await writeFile(join(from, 'private'), 'text', { mode: 0o600 });
  const time = new Date('2020-01-02T03:04:05Z');
  await utimes(join(from, 'private'), time, time);
  await chmod(join(from, 'a'), 0o750);
  await mkdir(to);
  await writeFile(join(to, 'kept'), '');
  await copyTree(from, to);
  assert.deepEqual(await Promise.all([0, 99].map((at) => readFile(join(to, 'a', `${at}`), 'utf8'))), ['0', '99']);
  assert.equal(await readlink(join(to, 'link')), '../nowhere');
  const { mode, mtime } = await lstat(join(to, 'private'));
  assert.deepEqual([mode & 0o777, mtime], [0o600, time]);
  assert.equal((await lstat(join(to, 'a'))).mode & 0o777, 0o750);
  assert.ok((await lstat(join(to, 'a', 'empty'))).isDirectory());
  assert.equal(await readFile(join(to, 'kept'), 'utf8'), '');
  await copyTree(join(from, 'private'), join(folder, 'file'));
  assert.equal(await readFile(join(folder, 'file'), 'utf8'), 'text');
});

test('what cannot be copied is an error, which names it', async () => {
  const from = join(folder, 'sockets');
  await mkdir(from);
  const server = createServer().listen(join(from, 'socket'));
  await new Promise((resolve) => server.once('listening', resolve));
  await assert.rejects(copyTree(from, join(folder, 'copy')), /sockets\/socket is neither a file nor a folder/);
  server.close();
  await assert.rejects(copyTree(join(folder, 'missing'), join(folder, 'copy')), { code: 'ENOENT' });
});

test('folders in folders are copied with few open files', async () => {
  const from = join(folder, 'wide');
  const paths = Array.from({ length: 900 }, (_, at) => join('wide', `${at % 30}`, `${at}`));
  for (const path of paths) await mkdir(join(folder, path), { recursive: true });
  await Promise.all(paths.map((path) => writeFile(join(folder, path, 'file'), path)));
  const countOpen = () => readdirSync('/proc/self/fd').length;
  const before = countOpen();
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, countOpen());
  }, 1);
  await copyTree(from, join(folder, 'wide-copy')).finally(() => clearInterval(timer));
  assert.ok(most > 0 && most < before + 100, `${most} open files, ${before} before`);
  for (const path of paths) assert.equal(await readFile(join(folder, path.replace('wide', 'wide-copy'), 'file'), 'utf8'), path);
});
