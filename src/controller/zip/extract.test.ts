import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { zipByHand } from '../../../test/support/zip-by-hand.ts';
import { extractArchive } from './extract.ts';

test('no archive stays open, whether it is taken apart or refused', { skip: process.platform !== 'linux' }, async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-extract-'));
  context.after(() => rm(folder, { recursive: true }));
  const project = { name: 'project.gns3', content: '{}' };
  const outside = { name: '../x', content: 'x' };
  for (let count = 0; count < 20; count++) {
    const [archive, content] = [join(folder, `archive${count}`), join(folder, `content${count}`)];
    await writeFile(archive, zipByHand(count % 2 === 0 ? [project, outside] : [project]));
    await mkdir(content);
    const extracted = extractArchive(archive, content);
    await (count % 2 === 0 ? assert.rejects(extracted, { code: 'archive_invalid' }) : extracted);
  }
  const links = (await readdir('/proc/self/fd')).map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''));
  assert.deepEqual(
    (await Promise.all(links)).filter((link) => link.startsWith(folder)),
    [],
  );
});
