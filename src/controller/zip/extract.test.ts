import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { zipByHand } from '../../../test/support/zip-by-hand.ts';
import { extractArchive } from './extract.ts';

/** Holds the event loop for a time, without a processor. */
const holdLoop = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('no archive stays open, whether it is taken apart or refused', { skip: process.platform !== 'linux' }, async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-extract-'));
  context.after(() => rm(folder, { recursive: true }));
  const project = { name: 'project.gns3', content: '{}' };
  const outside = { name: '../x', content: 'x' };
  for (let count = 0; count < 20; count++) {
    const [archive, content] = [join(folder, `archive${count}`), join(folder, `content${count}`)];
    await writeFile(archive, zipByHand(count % 2 === 0 ? [project, outside] : [project]));
    await mkdir(content);
    const extracted = extractArchive({ archive, folder: content, floorBytes: 0 });
    await (count % 2 === 0 ? assert.rejects(extracted, { code: 'archive_invalid' }) : extracted);
  }
  const links = (await readdir('/proc/self/fd')).map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''));
  assert.deepEqual(
    (await Promise.all(links)).filter((link) => link.startsWith(folder)),
    [],
  );
});

test('an archive is taken apart although the server is busy until it is done', { timeout: 60_000 }, async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-extract-'));
  context.after(() => rm(folder, { recursive: true }));
  const archive = join(folder, 'archive');
  await writeFile(archive, zipByHand([{ name: 'project.gns3', content: '{}' }]));
  for (let count = 0; count < 5; count++) {
    const content = join(folder, `content${count}`);
    await mkdir(content);
    const extracted = extractArchive({ archive, folder: content, floorBytes: 0 });
    holdLoop(1000);
    await extracted;
    assert.deepEqual(await readdir(content), ['project.gns3']);
  }
});

test('an archive leaves min_free_bytes free, and holds no disk that refers to drivers and addresses', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-extract-'));
  context.after(() => rm(folder, { recursive: true }));
  const archive = join(folder, 'archive');
  const extract = async (image: Buffer, floorBytes = 0) => {
    const path = 'project-files/qemu/11111111-1111-4111-8111-111111111111/hda_disk.qcow2';
    const entries = [
      { name: 'project.gns3', content: '{}' },
      { name: path, content: image },
    ];
    await writeFile(archive, zipByHand(entries));
    await rm(join(folder, 'content'), { recursive: true, force: true });
    await mkdir(join(folder, 'content'));
    await extractArchive({ archive, folder: join(folder, 'content'), floorBytes });
  };
  await extract(qcow2(''));
  await assert.rejects(extract(qcow2(''), 2 ** 60), { code: 'disk_floor', message: /min_free_bytes/ });
  for (const backing of ['json:{"driver":"file","filename":"/etc/shadow"}', 'nbd://h/x'])
    await assert.rejects(extract(qcow2(backing)), { code: 'archive_invalid', message: /hda_disk\.qcow2" is refused/ }, backing);
});

test('an archive of few files in very many folders is refused before any is made', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-extract-'));
  context.after(() => rm(folder, { recursive: true }));
  const files = Array.from({ length: 140 }, (_, number) => ({ name: `${number}/${'a/'.repeat(1490)}f`, content: '' }));
  const archive = join(folder, 'archive');
  await writeFile(archive, zipByHand([{ name: 'project.gns3', content: '{}' }, ...files]));
  const extracted = extractArchive({ archive, folder: join(folder, 'content'), floorBytes: 0 });
  await assert.rejects(extracted, { code: 'archive_invalid', message: /in more than 200000 folders/ });
  assert.deepEqual(await readdir(folder), ['archive']);
});

/** The header of version 2, 72 bytes: docs/interop/qcow2 of QEMU. The name of the backing file follows it. */
function qcow2(backing: string): Buffer {
  const image = Buffer.alloc(65_536);
  image.write('QFI\xfb', 0, 'latin1');
  image.writeUInt32BE(2, 4);
  if (backing !== '') {
    image.writeBigUInt64BE(72n, 8);
    image.writeUInt32BE(Buffer.byteLength(backing), 16);
    image.write(backing, 72);
  }
  image.writeUInt32BE(16, 20);
  image.writeBigUInt64BE(BigInt(2 ** 20), 24);
  return image;
}
