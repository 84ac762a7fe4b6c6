import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { contractHost } from '../../../test/support/contract-bench.ts';
import { isFault } from '../../api/faults.ts';
import { runTool } from '../../process/tool.ts';
import { ConfinedTools } from '../host/confined-tools.ts';
import { Binaries } from './binaries.ts';
import { ImageMaker } from './img.ts';
import { RawDisks } from './raw-disks.ts';

let folder: string;
let binaries: Binaries;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-bin-'));
  await mkdir(join(folder, 'usr'));
  await symlink('usr', join(folder, 'bin'));
});
beforeEach(() => {
  binaries = new Binaries(() => `${folder}/bin:relative:${folder}/usr:${folder}/gone`);
});
after(() => rm(folder, { recursive: true }));

/** A program that counts how often it is asked, and tells a version. */
async function program(name: string, version: string): Promise<string> {
  const path = join(folder, 'usr', name);
  await writeFile(path, `#!/bin/sh\necho asked >> ${path}.asked\necho "QEMU emulator version ${version} (Test)"\n`);
  await chmod(path, 0o755);
  return path;
}
const asked = async (path: string) => (await readFile(`${path}.asked`, 'utf8').catch(() => '')).split('\n').length - 1;

test('each emulator once, its version asked once until the file changes', async () => {
  const path = await program('qemu-system-arm', '6.1.0');
  await program('qemu-system-armbad', 'nothing');
  await writeFile(join(folder, 'usr', 'qemu-system-plain'), 'not executable');
  await program('qemu-img', '6.1.0');
  const expected = [{ path: join(folder, 'bin', 'qemu-system-arm'), version: '6.1.0' }];
  assert.deepEqual(await Promise.all([binaries.list(), binaries.list(['arm'])]), [expected, expected]);
  assert.deepEqual(await binaries.list(['x86_64']), []);
  assert.deepEqual(await binaries.list([]), []);
  assert.equal(await asked(path), 1);
  await program('qemu-system-arm', '6.1.10');
  assert.equal((await binaries.list())[0]?.version, '6.1.10');
  assert.equal(await asked(path), 2);
  assert.deepEqual(await binaries.listImg(), [{ path: join(folder, 'bin', 'qemu-img'), version: '6.1.0' }]);
});

test('a list that is kept follows the folders and the files', async () => {
  const [own, other] = [join(folder, 'kept'), join(folder, 'target')];
  await mkdir(own);
  const kept = new Binaries(() => own);
  const names = async () => (await kept.list()).map(({ path, version }) => `${basename(path)} ${version}`);
  const path = join(own, 'qemu-system-arm');
  const write = async (to: string, version: string) => {
    await writeFile(to, `#!/bin/sh\necho "QEMU emulator version ${version}"\n`);
    await chmod(to, 0o755);
  };
  assert.deepEqual(await names(), []);
  await write(path, '1.0.0');
  for (const _ of [1, 2]) assert.deepEqual(await names(), ['qemu-system-arm 1.0.0']);
  await chmod(path, 0o644);
  assert.deepEqual(await names(), []);
  await chmod(path, 0o755);
  assert.deepEqual(await names(), ['qemu-system-arm 1.0.0']);
  await rename(path, other);
  assert.deepEqual(await names(), []);
  await symlink(other, path);
  assert.deepEqual(await names(), ['qemu-system-arm 1.0.0']);
  await write(other, '2.0.10');
  assert.deepEqual(await names(), ['qemu-system-arm 2.0.10']);
  assert.deepEqual(await kept.list(['x86_64']), []);
  await rm(path);
  assert.deepEqual(await names(), []);
});

test('an emulator is found by name in PATH, or by its path', async () => {
  const path = await program('qemu-system-mips', '7.0');
  assert.equal(await binaries.findEmulator('qemu-system-mips', true), join(folder, 'bin', 'qemu-system-mips'));
  assert.equal(await binaries.findEmulator(path, true), path);
  await mkdir(join(folder, 'elsewhere'));
  await symlink(path, join(folder, 'elsewhere', 'qemu-system-mips'));
  const elsewhere = join(folder, 'elsewhere', 'qemu-system-mips');
  assert.equal(await binaries.findEmulator(elsewhere, false), elsewhere);
  assert.equal(await binaries.findEmulator(elsewhere, true), undefined);
  for (const name of ['/bin/sh', 'sh', 'usr/qemu-system-mips', `${folder}/usr`, 'qemu-system-plain', `${path}\0`]) {
    assert.equal(await binaries.findEmulator(name, false), undefined, name);
  }
});

test('an emulator that was found is looked for again after a second, and at once when it is gone or PATH is another', async (t) => {
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];
  for (const made of [first, second]) await mkdir(made);
  const make = async (inFolder: string) => rename(await program('qemu-system-ppc', '8.0'), join(inFolder, 'qemu-system-ppc'));
  let now = 10_000;
  t.mock.method(performance, 'now', () => now);
  let path = `${first}:${second}`;
  const looked = new Binaries(() => path);
  const found = async () => (await looked.inPath('qemu-system-ppc'))?.slice(folder.length + 1);
  assert.equal(await found(), undefined);
  await make(second);
  assert.equal(await found(), 'second/qemu-system-ppc');
  await make(first);
  now += 999;
  assert.equal(await found(), 'second/qemu-system-ppc');
  now += 1;
  assert.equal(await found(), 'first/qemu-system-ppc');
  await rm(join(first, 'qemu-system-ppc'));
  assert.equal(await found(), 'second/qemu-system-ppc');
  path = first;
  assert.equal(await found(), undefined);
});

test('images are made and grown in the image folder, by the qemu-img of PATH only', async () => {
  const host = contractHost(join(folder, 'data'), 31_900);
  const rawDisks = new RawDisks(join(folder, 'raw-disks.json'));
  const maker = new ImageMaker(host, new Binaries(), rawDisks, new ConfinedTools(() => host.settings));
  const input = { qemu_img: 'qemu-img', path: 'made.qcow2', format: 'qcow2' as const, size: 8 };
  await maker.create({ ...input, cluster_size: 65536, lazy_refcounts: 'off' });
  const made = join(folder, 'data', 'images', 'QEMU', 'made.qcow2');
  await maker.update({ qemu_img: '/usr/bin/qemu-img', path: '../../made.qcow2', extend: 4 });
  const { stdout } = await runTool('qemu-img', ['info', '--output=json', made], { timeoutMs: 5000 });
  assert.equal(JSON.parse(stdout)['virtual-size'], 12 * 2 ** 20);
  const code = (wanted: Parameters<typeof isFault>[1], words: RegExp) => (error: unknown) =>
    isFault(error, wanted) && words.test(error.message);
  await assert.rejects(maker.create(input), code('qemu_failed', /exists/));
  await assert.rejects(maker.create({ ...input, path: 'x', qemu_img: '/bin/true' }), code('qemu_binary_missing', /qemu-utils/));
  await assert.rejects(maker.create({ ...input, path: 'x', qemu_img: '/nowhere/qemu-img' }), code('qemu_binary_missing', /./));
  await assert.rejects(maker.create({ ...input, path: 'x', format: 'raw', cluster_size: 1 }), code('qemu_failed', /cluster_size/));
  await assert.rejects(maker.update({ qemu_img: 'qemu-img', path: 'gone', extend: 1 }), code('qemu_failed', /no image/));
  await assert.rejects(maker.create({ ...input, path: '..' }), code('path_forbidden', /./));
  const remote = contractHost(join(folder, 'data'), 31_900, (same) => ({ ...same, Server: { ...same.Server, local: false } }));
  const strict = new ImageMaker(remote, new Binaries(), rawDisks, new ConfinedTools(() => remote.settings));
  await assert.rejects(strict.create({ ...input, path: '/tmp/x.qcow2' }), code('path_forbidden', /local/));
});
