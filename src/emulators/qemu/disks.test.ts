import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { contractHost } from '../../../test/support/contract-bench.ts';
import { isFault } from '../../api/faults.ts';
import { readDiskImage } from '../../lib/disk-image/read.ts';
import { ConfinedTools } from '../host/confined-tools.ts';
import type { ImageFolder } from '../host/images.ts';
import { type DiskNode, prepareDisks } from './disks.ts';
import { qemuImages } from './kind.ts';
import { defaults } from './properties.ts';
import { QemuImg } from './qemu-img.ts';
import { RawDisks } from './raw-disks.ts';

let img: QemuImg;
let tools: ConfinedTools;
let root: string;
let folder: string;
let images: ImageFolder;
/** Programs without mtools. */
const binaries = { inPath: async () => undefined };
let rawDisks: RawDisks;
let warnings: string[];
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'pb-disks-'));
});
beforeEach(async () => {
  folder = await mkdtemp(join(root, 't'));
  const host = contractHost(folder, 31_900);
  images = host.images.of(qemuImages);
  tools = new ConfinedTools(() => host.settings);
  img = new QemuImg('qemu-img', tools);
  rawDisks = new RawDisks(join(folder, 'state', 'raw-disks.json'));
  warnings = [];
  await mkdir(images.directory, { recursive: true });
  await mkdir(join(folder, 'node'));
});
after(() => rm(root, { recursive: true }));

function node(image: string, more: Partial<typeof defaults> = {}): DiskNode {
  const emulator = { qemu_path: '/usr/bin/qemu-system-x86_64', platform: 'x86_64', mac_address: '0c:00:00:00:00:00' } as const;
  return {
    directory: join(folder, 'node'),
    projectDirectory: join(folder, 'project'),
    name: 'n',
    properties: { ...defaults, ...emulator, hda_disk_image: image, hda_disk_interface: 'ide', ...more },
    warn: (message) => void warnings.push(message),
  };
}
const backingOf = async (path: string) => (await readDiskImage(path)).backing?.file;
const image = (name: string) => join(images.directory, name);
const overlay = () => join(folder, 'node', 'hda_disk.qcow2');

test('an overlay is made once, and found again; names with commas and blanks are fine', async () => {
  await img.create(image('a, b.qcow2'), 'qcow2', [], '4M');
  const [disk] = await prepareDisks(node('a, b.qcow2'), { images, img, binaries, rawDisks, tools });
  const backing = [{ file: image('a, b.qcow2'), format: 'qcow2' }];
  const own = { file: overlay(), format: 'qcow2', backing };
  assert.deepEqual(disk, { slot: 'hda', index: 0, ...own, interface: 'ide', hasSavedState: false });
  assert.equal(await backingOf(overlay()), image('a, b.qcow2'));
  const before = await readFile(overlay());
  await prepareDisks(node('a, b.qcow2'), { images, img, binaries, rawDisks, tools });
  assert.deepEqual(await readFile(overlay()), before);
  assert.deepEqual(await readdir(join(folder, 'node')), ['hda_disk.qcow2']);
});

test('a node that is no linked clone uses the image itself', async () => {
  await writeFile(image('raw.img'), Buffer.alloc(65_536));
  const [disk] = await prepareDisks(node('raw.img', { linked_clone: false }), { images, img, binaries, rawDisks, tools });
  assert.deepEqual([disk?.file, disk?.format], [image('raw.img'), 'raw']);
});

test('an image that moved is found again when it is the same kind and size', async () => {
  await img.create(image('a.qcow2'), 'qcow2', [], '4M');
  await prepareDisks(node('a.qcow2'), { images, img, binaries, rawDisks, tools });
  await mkdir(image('sub'));
  await rename(image('a.qcow2'), image('sub/a.qcow2'));
  await prepareDisks(node('a.qcow2'), { images, img, binaries, rawDisks, tools });
  assert.equal(await backingOf(overlay()), image('sub/a.qcow2'));
  await rm(image('sub/a.qcow2'));
  await img.create(image('a.qcow2'), 'qcow2', [], '8M');
  await assert.rejects(
    prepareDisks(node('a.qcow2'), { images, img, binaries, rawDisks, tools }),
    (error) => isFault(error, 'qemu_failed') && /is gone/.test(error.message),
  );
});

test('another image gets another overlay; what was written to the old one is kept', async () => {
  for (const name of ['a.qcow2', 'b.qcow2']) await img.create(image(name), 'qcow2', [], '4M');
  await prepareDisks(node('a.qcow2'), { images, img, binaries, rawDisks, tools });
  await prepareDisks(node('b.qcow2'), { images, img, binaries, rawDisks, tools });
  assert.equal(await backingOf(overlay()), image('b.qcow2'));
  assert.equal(await backingOf(`${overlay()}.old`), image('a.qcow2'));
  assert.equal(warnings.length, 1);
});

test('a config disk where there is a template, a warning where not', async () => {
  const none = await prepareDisks(node('', { create_config_disk: true }), { images, img, binaries, rawDisks, tools });
  assert.deepEqual([none.length, warnings.length], [0, 1]);
  await writeFile(image('config.img'), Buffer.alloc(65_536));
  const [disk] = await prepareDisks(node('', { create_config_disk: true, hdd_disk_image: 'ignored' }), {
    images,
    img,
    binaries,
    rawDisks,
    tools,
  });
  assert.deepEqual([disk?.index, disk?.format, disk?.file], [3, 'raw', join(folder, 'node', 'config.img')]);
});

test('what is no image or is missing is refused with its name', async () => {
  await assert.rejects(prepareDisks(node('gone.qcow2'), { images, img, binaries, rawDisks, tools }), (error) =>
    isFault(error, 'image_missing'),
  );
  await writeFile(image('broken.qcow2'), Buffer.concat([Buffer.from('514649fb00000003', 'hex'), Buffer.alloc(100)]));
  await assert.rejects(
    prepareDisks(node('broken.qcow2'), { images, img, binaries, rawDisks, tools }),
    (error) => isFault(error, 'image_refused') && /broken/.test(error.message),
  );
});

test('qemu-img is another user on a server that is root', {
  skip: process.getuid?.() !== 0 && 'only root can choose it',
}, async () => {
  const program = join(folder, 'qemu-img');
  await writeFile(program, '#!/bin/sh\necho "{\\"format\\":\\"$(id -u)\\"}"\n', { mode: 0o755 });
  await writeFile(image('a.img'), '');
  assert.equal((await new QemuImg(program, tools).info(image('a.img'), 'raw')).format, '61100');
});

test('an image of several files is made whole, and all of it is the server’s', async () => {
  await img.create(image('flat.vmdk'), 'vmdk', ['-o', 'subformat=monolithicFlat'], '4M');
  assert.deepEqual((await readdir(images.directory)).sort(), ['flat-flat.vmdk', 'flat.vmdk']);
  assert.match(await readFile(image('flat.vmdk'), 'latin1'), /"flat-flat\.vmdk"/);
  for (const name of ['flat-flat.vmdk', 'flat.vmdk']) assert.equal((await stat(image(name))).uid, process.getuid?.());
  await assert.rejects(img.create(image('no.qcow2'), 'qcow2', ['-o', 'cluster_size=1'], '4M'), /cluster/i);
  assert.equal((await readdir(images.directory)).length, 2);
});
