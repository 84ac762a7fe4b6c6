/** Disks in the folder of a node, by the real qemu-img. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { contractHost } from '../../../test/support/contract-bench.ts';
import { isFault } from '../../api/faults.ts';
import { runTool } from '../../process/tool.ts';
import { ConfinedTools } from '../host/confined-tools.ts';
import { Binaries } from './binaries.ts';
import { ImageMaker } from './img.ts';
import { RawDisks } from './raw-disks.ts';

const folder = await mkdtemp(join(tmpdir(), 'pb-node-disks-'));
after(() => rm(folder, { recursive: true, force: true }));

test('disks of a node are made, grown and deleted by name, and no other file of it is touched', async () => {
  const node = join(folder, 'node');
  await mkdir(node);
  await writeFile(join(node, 'startup-config.cfg'), 'kept');
  const host = contractHost(join(folder, 'data'), 31_900, (same) => ({ ...same, Server: { ...same.Server, local: false } }));
  const maker = new ImageMaker(
    host,
    new Binaries(),
    new RawDisks(join(folder, 'raw.json')),
    new ConfinedTools(() => host.settings),
  );
  const code = (wanted: Parameters<typeof isFault>[1], words: RegExp) => (error: unknown) =>
    isFault(error, wanted) && words.test(error.message);
  const input = { format: 'qcow2' as const, size: 8 };
  await maker.createDisk(node, 'extra.qcow2', input);
  await maker.growDisk(node, 'extra.qcow2', 4);
  const { stdout } = await runTool('qemu-img', ['info', '--output=json', join(node, 'extra.qcow2')], { timeoutMs: 5000 });
  assert.equal(JSON.parse(stdout)['virtual-size'], 12 * 2 ** 20);
  await assert.rejects(maker.createDisk(node, 'extra.qcow2', input), code('qemu_failed', /exists/));
  await assert.rejects(maker.growDisk(node, 'none.qcow2', 1), code('qemu_failed', /no image/));
  await assert.rejects(maker.deleteDisk(node, 'none.qcow2'), code('qemu_failed', /no disk/));
  for (const name of [
    'startup-config.cfg',
    '../x.qcow2',
    '/x.qcow2',
    '.hidden.qcow2',
    '-x.qcow2',
    'a\0.qcow2',
    '..',
    '',
    `${'x'.repeat(260)}.qcow2`,
  ]) {
    for (const change of [
      () => maker.createDisk(node, name, input),
      () => maker.growDisk(node, name, 1),
      () => maker.deleteDisk(node, name),
    ])
      await assert.rejects(change, code('path_forbidden', /./), name);
  }
  assert.deepEqual((await readdir(node)).toSorted(), ['extra.qcow2', 'startup-config.cfg']);
  await maker.deleteDisk(node, 'extra.qcow2');
  assert.deepEqual(await readdir(node), ['startup-config.cfg']);
});
