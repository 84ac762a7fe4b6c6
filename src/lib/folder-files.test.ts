import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { readInside, writeInside } from './folder-files.ts';

let top: string;
let folder: string;
let outside: string;
beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), 'pb-folder-files-'));
  [folder, outside] = [join(top, 'project'), join(top, 'outside')];
  await mkdir(join(folder, 'sub'), { recursive: true });
  await mkdir(outside);
});
afterEach(async () => {
  await rm(top, { recursive: true });
});

const write = (path: string, content: string) =>
  writeInside(folder, path, Readable.from([content]), { problemOf: () => undefined });
const read = async (path: string) => text((await readInside(folder, path)).source);

test('a file is written and read through folders that are made, and through links inside', async () => {
  await write('new/deep/er/file.txt', 'one');
  assert.equal(await read('new/deep/er/file.txt'), 'one');
  await symlink('new/deep', join(folder, 'short'));
  await write('short/er/file.txt', 'two');
  assert.equal(await read('new/deep/er/file.txt'), 'two');
  assert.deepEqual(await readdir(join(folder, 'new/deep/er')), ['file.txt']);
});

/** Puts a link to `outside` in the place of `sub` and takes it away again, without a pause, as a program of another user may. */
const swapping = `
const { parentPort, workerData: { folder, outside } } = require('node:worker_threads');
const fs = require('node:fs');
fs.symlinkSync(outside, folder + '/link');
let ended = false;
const turn = () => {
  for (let n = 0; n < 50; n += 1) {
    fs.renameSync(folder + '/sub', folder + '/kept');
    fs.renameSync(folder + '/link', folder + '/sub');
    fs.renameSync(folder + '/sub', folder + '/link');
    fs.renameSync(folder + '/kept', folder + '/sub');
  }
  if (ended) parentPort.close(); else setImmediate(turn);
};
parentPort.on('message', () => { ended = true; });
turn();
parentPort.postMessage('begun');
`;

test('a folder that is replaced by a link while a file is looked for leads nowhere outside', async () => {
  await writeFile(join(outside, 'secret.txt'), 'secret');
  await writeFile(join(folder, 'sub/secret.txt'), 'own');
  const worker = new Worker(swapping, { eval: true, workerData: { folder, outside } });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  try {
    await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
    let worked = 0;
    for (let n = 0; n < 400; n += 1) {
      const results = await Promise.allSettled([read('sub/secret.txt'), write(`sub/${n}.txt`, 'mine')]);
      worked += results.filter(({ status }) => status === 'fulfilled').length;
      const [found] = results;
      if (found.status === 'fulfilled') assert.equal(found.value, 'own');
    }
    assert.ok(worked > 0, 'no reading and no writing worked: the test shows nothing');
  } finally {
    worker.postMessage('end');
    await ended;
  }
  assert.deepEqual(await readdir(outside), ['secret.txt']);
  assert.equal(await readFile(join(outside, 'secret.txt'), 'utf8'), 'secret');
});
