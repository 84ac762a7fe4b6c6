/** Folders in which root finishes what tools of the emulators' user began: that user puts a link to another folder in their place. */
import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { contractHost } from '../../../test/support/contract-bench.ts';
import { emulatorUser } from '../../../test/support/other-user.ts';
import { runTool } from '../../process/tool.ts';
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
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'pb-scratch-'));
  await chmod(root, 0o755);
  [folder, outside] = [join(root, 'node'), join(root, 'outside')];
  for (const path of [folder, outside]) await mkdir(path, { mode: 0o755 });
  await chown(folder, user, user);
  await writeFile(join(outside, 'secret'), 'secret', { mode: 0o600 });
  const { settings } = contractHost(join(root, 'data'), 31_948);
  await mkdir(settings.runtimeDirectory, { recursive: true });
});
afterEach(() => rm(root, { recursive: true }));

/** Tools of a node whose user runs this script in the node's folder once a tool of this name has done its work. */
class DisturbedTools extends ConfinedTools {
  readonly #name: string;
  readonly #script: string;

  constructor(name: string, script: string) {
    const { settings } = contractHost(join(root, 'data'), 31_948);
    super(() => settings);
    this.#name = name;
    this.#script = script;
  }

  override async run(...given: Parameters<ConfinedTools['run']>): ReturnType<ConfinedTools['run']> {
    const result = await super.run(...given);
    if (basename(given[0]) === this.#name) {
      const words = [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', 'sh', '-ec', this.#script];
      const { code, reason } = await runTool('setpriv', words, { cwd: folder, timeoutMs: 20_000 });
      assert.equal(code, 0, reason);
    }
    return result;
  }
}

/** Puts a link to `outside` in place of folders of this pattern. */
const swap = (pattern: string) => `for made in ${pattern}; do mv "$made" moved && ln -s ${outside} "$made"; done`;

async function assertUntouched(): Promise<void> {
  assert.ok((await readdir(folder)).includes('moved'), 'nothing was put in place of the folder');
  assert.deepEqual(await readdir(outside), ['secret']);
  for (const path of [outside, join(outside, 'secret')]) assert.equal((await stat(path)).uid, 0);
}

test('the scratch folder of a config disk', { skip }, async () => {
  // An archive without entries.
  await writeFile(join(folder, 'config.zip'), Buffer.from(`504b0506${'00'.repeat(18)}`, 'hex'));
  const tools = new DisturbedTools('mformat', swap('.config-*'));
  const disk = new ConfigDisk({ directory: folder, name: 'R1', warn: () => undefined }, new Binaries(), tools);
  await disk.prepare(undefined).catch(() => undefined);
  await assertUntouched();
});

test('the folder of an image that is being made', { skip }, async () => {
  const img = new QemuImg('qemu-img', new DisturbedTools('qemu-img', swap('*.unfinished')));
  await img.create(join(folder, 'disk.qcow2'), 'qcow2', [], '1M');
  await assertUntouched();
  assert.ok((await stat(join(folder, 'disk.qcow2'))).isFile());
});

test('an image that came while one of its name was made stays', { skip }, async () => {
  const [source, image] = [join(folder, 'source.raw'), join(folder, 'disk.qcow2')];
  await writeFile(source, Buffer.alloc(65_536));
  const img = new QemuImg('qemu-img', new DisturbedTools('qemu-img', `echo uploaded > ${image}`));
  await assert.rejects(img.convert(source, 'raw', image), /it exists by now/);
  assert.equal(await readFile(image, 'utf8'), 'uploaded\n');
  assert.deepEqual((await readdir(folder)).sort(), ['disk.qcow2', 'source.raw']);
});
