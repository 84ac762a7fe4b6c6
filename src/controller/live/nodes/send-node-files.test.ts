import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { OpenNode } from './open-node.ts';
import { sendNodeFiles } from './send-node-files.ts';

test('files of a node are sent to its compute once, but never those of a move that has not ended over the disks of its machine', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'send-files-'));
  t.after(() => rm(folder, { recursive: true }));
  const sent: string[] = [];
  const raw = async (_method: string, path: string, body: Readable) =>
    void sent.push(`${path.split('/').at(-1)} ${await text(body)}`);
  const id = crypto.randomUUID();
  const compute = { isLocal: false, transport: { raw } };
  const node = {
    wanted: { move: { from: 'far', to: 'local' } } as object,
    id,
    projectId: crypto.randomUUID(),
    entry: { node_type: 'qemu' },
    requireCompute: () => compute,
  };
  const own = join(folder, 'project-files', 'qemu', id);
  await mkdir(own, { recursive: true });
  await writeFile(join(own, 'hda_disk.qcow2'), 'half');
  await sendNodeFiles(folder, node as unknown as OpenNode);
  assert.deepEqual([sent, await readdir(own)], [[], ['hda_disk.qcow2']]);
  node.wanted = {};
  await sendNodeFiles(folder, node as unknown as OpenNode);
  assert.deepEqual(sent, ['hda_disk.qcow2 half']);
  await assert.rejects(readdir(own), { code: 'ENOENT' });
});
