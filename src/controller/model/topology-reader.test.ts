import assert from 'node:assert/strict';
import { pbkdf2 } from 'node:crypto';
import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readInThread } from './topology-reader.ts';

/** Keeps the threads that work for `fs` busy, with a queue, until it is stopped. */
function busyThreads(): () => Promise<void> {
  let isOver = false;
  const work = async () => {
    while (!isOver) await new Promise((resolve) => pbkdf2('a', 'b', 20_000, 32, 'sha256', resolve));
  };
  const all = Array.from({ length: 32 }, work);
  return async () => {
    isOver = true;
    await Promise.all(all);
  };
}

test('a thread that has read a file leaves it closed, however long the close has to wait', { timeout: 60_000 }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-reader-'));
  t.after(() => rm(folder, { recursive: true }));
  const source = join(folder, 'damaged.gns3');
  await writeFile(source, '{');
  const stop = busyThreads();
  try {
    await assert.rejects(async () => {
      for await (const _ of readInThread({ source, maxBytes: 100, name: 'lab.gns3', want: 'topology' }));
    }, /lab\.gns3.*JSON/);
  } finally {
    await stop();
  }
  const links = (await readdir('/proc/self/fd')).map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''));
  assert.deepEqual(
    (await Promise.all(links)).filter((link) => link.startsWith(folder)),
    [],
  );
});
