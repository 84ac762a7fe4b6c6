/** Images that name files of the host: none of them is read, whatever way they come; the real qemu-img makes most of them. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { runTool } from '../../process/tool.ts';
import { LentFiles } from '../host/lent-files.ts';
import { readChain } from './image-chain.ts';
import { RawDisks } from './raw-disks.ts';

let root: string;
let folder: string;
let images: string;
let canary: string;
let rawDisks: RawDisks;
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'pb-chain-'));
});
beforeEach(async () => {
  folder = await mkdtemp(join(root, 't'));
  images = join(folder, 'images');
  canary = join(folder, 'canary');
  rawDisks = new RawDisks(join(folder, 'state', 'raw-disks.json'));
  await mkdir(images);
  await writeFile(canary, Buffer.alloc(65_536, 'secret'));
});
after(() => rm(root, { recursive: true }));

const chain = (name: string) => readChain(join(images, name), { folders: [images], rawDisks });
const refused = (words: RegExp) => (error: unknown) => isFault(error, 'image_refused') && words.test(error.message);

async function img(...args: string[]): Promise<void> {
  const { code, reason } = await runTool('qemu-img', args, { timeoutMs: 20_000, cwd: images });
  assert.equal(code, 0, reason);
}
/** Changes bytes of an image. */
async function patch(name: string, at: number, bytes: Buffer): Promise<void> {
  const content = await readFile(join(images, name));
  bytes.copy(content, at);
  await writeFile(join(images, name), content);
}

test('every format that qemu-img makes is known without asking it', async () => {
  const made: [string, string, string[]][] = [
    ['a', 'qcow2', []],
    ['b', 'qcow2', ['-o', 'compat=0.10']],
    ['c', 'qcow', []],
    ['d', 'vmdk', []],
    ['e', 'vmdk', ['-o', 'subformat=streamOptimized']],
    ['f', 'vdi', []],
    ['g', 'vpc', []],
    ['h', 'vhdx', []],
    ['i', 'raw', []],
    ['j', 'qcow2', ['-o', 'cluster_size=2M']],
  ];
  for (const [name, format, options] of made) {
    await img('create', '-q', '-f', format, ...options, name, '4M');
    assert.deepEqual(await chain(name), { image: { file: join(images, name), format }, backing: [] }, `${name}: ${format}`);
  }
});

test('a chain of known images is given whole, with their formats', async () => {
  await img('create', '-q', '-f', 'qcow2', 'base.qcow2', '4M');
  await img('create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', 'base.qcow2', 'middle.qcow2');
  await img('create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', join(images, 'middle.qcow2'), 'top.qcow2');
  // An image without the extension that says the format, as old versions of qemu-img made them.
  await patch('top.qcow2', 112, Buffer.from('00001234', 'hex'));
  const { backing } = await chain('top.qcow2');
  assert.deepEqual(backing, [
    { file: join(images, 'middle.qcow2'), format: 'qcow2' },
    { file: join(images, 'base.qcow2'), format: 'qcow2' },
  ]);
});

test('a backing file outside is refused in every spelling, and in the same words when it is missing', async () => {
  await symlink(canary, join(images, 'link'));
  await symlink(folder, join(images, 'folder'));
  const words = /is not in the image folders or the project/;
  const paths = [
    canary,
    '../canary',
    './x/../../canary',
    'link',
    'folder/canary',
    '/no/such/file',
    'missing',
    '/dev/zero',
    images,
    '.',
  ];
  for (const [index, path] of paths.entries()) {
    for (const compat of ['0.10', '1.1']) {
      const name = `${index}-${compat}`;
      await img('create', '-q', '-f', 'qcow2', '-o', `compat=${compat}`, '-F', 'raw', '-u', '-b', path, name, '4M');
      await assert.rejects(chain(name), refused(words), path);
    }
  }
  // An image behind a known image is refused, too.
  await img('create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-u', '-b', '0-1.1', 'second', '4M');
  await assert.rejects(chain('second'), refused(words));
});

test('addresses, devices and drivers are no backing files', async () => {
  const spellings = [
    'nbd://127.0.0.1:1/x',
    'nbd:unix:/x',
    'file:/etc/passwd',
    'fat:/etc',
    'http://127.0.0.1/',
    'host_device:/dev/sda',
    'json:{"driver":"file","filename":"/etc/passwd"}',
    'json:{"driver":"raw","file":{"driver":"file","filename":"/etc/passwd"},"encrypt":{"key-secret":"x"},"offset":1}',
    'json:{"driver":"nbd","file":{"driver":"file","filename":"/etc/passwd"},"encrypt":{"key-secret":"x"}}',
    'json:{"driver":"raw","file":{"driver":"host_device","filename":"/dev/sda"},"encrypt":{"key-secret":"x"}}',
    'json:[',
  ];
  await img('create', '-q', '-f', 'qcow2', '-F', 'raw', '-u', '-b', 'x'.repeat(200), 'template', '4M');
  for (const text of spellings) {
    await patch('template', 8, await named('template', text));
    await assert.rejects(chain('template'), refused(/no file|not allowed|not supported/), text);
  }
  const ours = { driver: 'raw', file: { driver: 'file', filename: canary }, encrypt: { 'key-secret': 'x' } };
  await patch('template', 8, await named('template', `json:${JSON.stringify(ours)}`));
  await assert.rejects(chain('template'), refused(/is not in the image folders/), 'our own form');
});

/** Offset and length of the name of the backing file, which is written beside the header. */
async function named(image: string, text: string): Promise<Buffer> {
  const at = 4096;
  await patch(image, at, Buffer.from(text));
  const field = Buffer.alloc(12);
  field.writeBigUInt64BE(BigInt(at));
  field.writeUInt32BE(Buffer.byteLength(text), 8);
  return field;
}

test('data in another file is refused, by the feature and by the extension', async () => {
  await img('create', '-q', '-f', 'qcow2', '-o', `data_file=${canary},data_file_raw=on`, 'data.qcow2', '64K');
  await assert.rejects(chain('data.qcow2'), refused(/data is in another file/));
  await patch('data.qcow2', 72, Buffer.alloc(8));
  await assert.rejects(chain('data.qcow2'), refused(/data is in another file/));
  for (const subformat of ['monolithicFlat', 'twoGbMaxExtentSparse']) {
    await img('create', '-q', '-f', 'vmdk', '-o', `subformat=${subformat}`, `${subformat}.vmdk`, '4M');
    await assert.rejects(chain(`${subformat}.vmdk`), refused(/names its data in other files/));
  }
  await img('create', '-q', '-f', 'vmdk', 'sparse.vmdk', '4M');
  const descriptor = (text: string) => patch('sparse.vmdk', 512, Buffer.from(text));
  await descriptor(`# Disk DescriptorFile\nversion=1\nparentCID=12345678\nparentFileNameHint="${canary}"\n`);
  await assert.rejects(chain('sparse.vmdk'), refused(/difference to another file/));
  await descriptor(`# Disk DescriptorFile\nversion=1\nRW 8192 FLAT "${canary}" 0\n${' '.repeat(99)}\n`);
  await patch('sparse.vmdk', 12, Buffer.alloc(8));
  await assert.rejects(chain('sparse.vmdk'), refused(/names its data in other files/));
});

test('headers that are damaged are refused with the cause; circles too', async () => {
  await img('create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-u', '-b', './circle', 'circle', '4M');
  await assert.rejects(chain('circle'), refused(/circle/));
  await img('create', '-q', '-f', 'qcow2', 'whole', '4M');
  const whole = await readFile(join(images, 'whole'));
  const field = (bytes: number, value: number) => {
    const buffer = Buffer.alloc(bytes);
    buffer.writeUInt32BE(value, bytes - 4);
    return buffer;
  };
  const damages: [number, Buffer][] = [
    [4, field(4, 4)],
    [8, field(8, 4_294_967_295)],
    [20, field(4, 40)],
    [20, field(4, 0)],
    [100, field(4, 8)],
    [100, field(4, 4_294_967_295)],
    [116, field(4, 4_294_967_295)],
  ];
  for (const [at, bytes] of damages) {
    await writeFile(join(images, 'whole'), whole);
    if (at === 8) await patch('whole', 16, field(4, 5));
    if (at === 116) await patch('whole', 112, field(4, 0x1234));
    await patch('whole', at, bytes);
    await assert.rejects(chain('whole'), refused(/whole/), String(at));
  }
  for (const length of [4, 40, 72, 103]) {
    await writeFile(join(images, 'whole'), whole.subarray(0, length));
    await assert.rejects(chain('whole'), refused(/cut off/), String(length));
  }
  for (const start of [
    'QED\0',
    'COWD',
    '# Disk DescriptorFile\nRW 1 FLAT "/etc/passwd" 0',
    'WithoutFreeSpace',
    '#!/bin/sh\n#V2.0 Format\nmodprobe cloop',
  ]) {
    await writeFile(join(images, 'whole'), Buffer.concat([Buffer.from(start), Buffer.alloc(8192)]));
    await assert.rejects(chain('whole'), refused(/convert|not supported/), start);
  }
});

test('a disk that a guest writes as it is stays raw, whatever the guest writes; an upload of the same name is a new file', async () => {
  const disk = join(images, 'disk.img');
  await writeFile(disk, Buffer.alloc(1 << 20));
  await rawDisks.add(disk);
  await img('create', '-q', '-f', 'qcow2', '-F', 'raw', '-u', '-b', canary, 'header', '4M');
  await patch('disk.img', 0, await readFile(join(images, 'header')));
  assert.deepEqual(await chain('disk.img'), { image: { file: disk, format: 'raw' }, backing: [] });
  // The list of raw disks counts after a start of the server, too; a damaged list counts as empty, and the image is looked at.
  rawDisks = new RawDisks(join(folder, 'state', 'raw-disks.json'));
  assert.equal((await chain('disk.img')).image.format, 'raw');
  await writeFile(join(folder, 'state', 'raw-disks.json'), '{"broken');
  rawDisks = new RawDisks(join(folder, 'state', 'raw-disks.json'));
  await assert.rejects(chain('disk.img'), refused(/is not in the image folders/));
  // A pipe in its place is not waited for.
  await rm(join(folder, 'state', 'raw-disks.json'));
  await runTool('mkfifo', [join(folder, 'state', 'raw-disks.json')], { timeoutMs: 60_000 });
  assert.equal(await new RawDisks(join(folder, 'state', 'raw-disks.json')).has(disk), false);
  await new LentFiles(join(folder, 'state', 'raw-disks.json')).recover({ user: 'nobody', uid: '65534', gid: '65534', limits: [] });
});
