/** Folders in which root finishes what tools of the emulators' user began: that user puts a link to another folder in their place. */
import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { contractHost } from '../../../test/support/contract-bench.ts';
import { emulatorUser } from '../../../test/support/other-user.ts';
import { ConfinedTools } from '../host/confined-tools.ts';
import { Binaries } from './binaries.ts';
import { ConfigDisk } from './config-disk.ts';
import { QemuImg } from './qemu-img.ts';

const skip = process.getuid?.() !== 0 && 'only root can choose the user of a process';
const user = await emulatorUser();

let root: string;
/** The node's, which is that user's. */
let folder: string;
/** The server's, and closed to it. */
let outside: string;
let tools: ConfinedTools;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'pb-scratch-'));
  await chmod(root, 0o755);
  [folder, outside] = [join(root, 'node'), join(root, 'outside')];
  for (const path of [folder, outside]) await mkdir(path, { mode: 0o755 });
  await chown(folder, user, user);
  await writeFile(join(outside, 'secret'), 'secret', { mode: 0o600 });
  const { settings } = contractHost(join(root, 'data'), 31_948);
  await mkdir(settings.runtimeDirectory, { recursive: true });
  tools = new ConfinedTools(() => settings);
});
afterEach(() => rm(root, { recursive: true }));

/** A program that does its work, and then puts a link to `outside` in place of folders of this pattern. */
async function swapping(name: string, pattern: string): Promise<string> {
  const real = await new Binaries().inPath(name);
  const script = join(root, name);
  const swap = `for made in ${pattern}; do mv "$made" moved && ln -s ${outside} "$made"; done`;
  await writeFile(script, `#!/bin/sh\n${real} "$@" || exit\ncd ${folder} && ${swap}\n`, { mode: 0o755 });
  return script;
}

async function assertUntouched(): Promise<void> {
  assert.ok((await readdir(folder)).includes('moved'), 'nothing was put in place of the folder');
  assert.deepEqual(await readdir(outside), ['secret']);
  for (const path of [outside, join(outside, 'secret')]) assert.equal((await stat(path)).uid, 0);
}

test('the scratch folder of a config disk', { skip }, async () => {
  const script = await swapping('mformat', '.config-*');
  class Swapped extends Binaries {
    override inPath(name: string): Promise<string | undefined> {
      return name === 'mformat' ? Promise.resolve(script) : super.inPath(name);
    }
  }
  // An archive without entries.
  await writeFile(join(folder, 'config.zip'), Buffer.from(`504b0506${'00'.repeat(18)}`, 'hex'));
  const disk = new ConfigDisk({ directory: folder, name: 'R1', warn: () => undefined }, new Swapped(), tools);
  await disk.prepare(undefined).catch(() => undefined);
  await assertUntouched();
});

test('the folder of an image that is being made', { skip }, async () => {
  const img = new QemuImg(await swapping('qemu-img', '*.unfinished'), tools);
  await img.create(join(folder, 'disk.qcow2'), 'qcow2', [], '1M');
  await assertUntouched();
  assert.ok((await stat(join(folder, 'disk.qcow2'))).isFile());
});

test('an image that came while one of its name was made stays', { skip }, async () => {
  const [script, source, image] = [join(root, 'make'), join(folder, 'source.vmdk'), join(folder, 'disk.qcow2')];
  await writeFile(script, `#!/bin/sh\nfor made; do :; done\necho made > "$made"\necho uploaded > ${image}\n`, { mode: 0o755 });
  await writeFile(source, '');
  await assert.rejects(new QemuImg(script, tools).convert(source, 'vmdk', image), /it exists by now/);
  assert.equal(await readFile(image, 'utf8'), 'uploaded\n');
  assert.deepEqual((await readdir(folder)).sort(), ['disk.qcow2', 'source.vmdk']);
});
