/** Snapshots with memory: machines run on, and continue where they were after a restore. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { atPrompt, type } from '../support/ipxe.ts';
import { openTelnet, type TelnetClient } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, tinyVm, withServer } from '../support/with-server.ts';

const { client } = await withServer();

async function ready(project: ProjectHandle, { snapshot_id }: Snapshot): Promise<Snapshot> {
  return waitFor(
    async () => {
      const found = (await client.get<Snapshot[]>(`${project.path}/snapshots`)).find((each) => each.snapshot_id === snapshot_id);
      return found?.memory?.status === 'saving' ? undefined : found;
    },
    { what: 'the memory of the snapshot', limitMs: 30_000 },
  );
}

async function shows(console: TelnetClient, word: string): Promise<void> {
  await type(console, 'show word');
  await console.expect(new RegExp(`= ${word}`), 20_000);
}

test('a running lab is frozen and rewound', async () => {
  const project = await createProject(client);
  await client.post('/v2/compute/qemu/img', { qemu_img: 'qemu-img', path: 'warm.qcow2', format: 'qcow2', size: 64 });
  const properties = { ...tinyVm, hda_disk_image: 'warm.qcow2', hda_disk_interface: 'ide' };
  const vm = await createNode(client, project, 'qemu', { properties });
  const pc = await createNode(client, project, 'vpcs');
  const idle = await createNode(client, project, 'vpcs');
  await client.post(`${project.path}/links`, { nodes: [end(vm), end(pc)] });
  for (const node of [vm, pc]) await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
  const before = await atPrompt(vm);
  await type(before, 'set word kept');
  const frozen = await client.post<Snapshot>(`${project.path}/snapshots`, { name: 'warm', memory: true });
  assert.equal(frozen.memory?.status, 'saving');
  assert.deepEqual(frozen.memory?.nodes, [vm.node_id]);
  assert.deepEqual(
    frozen.memory?.cold.map(({ node_id, reason }) => [node_id, reason]),
    [[pc.node_id, 'the memory of VPCS nodes cannot be saved']],
  );
  const status = async () => (await client.get<NodeBody[]>(`${project.path}/nodes`)).map((node) => node.status);
  assert.deepEqual(await status(), ['started', 'started', 'stopped']);
  const snapshot = await ready(project, frozen);
  assert.equal(snapshot.memory?.status, 'ready');
  console.log(snapshot.memory);
  await type(before, 'set word later');
  await shows(before, 'later');
  before.close();
  await client.delete(`${project.path}/nodes/${idle.node_id}`);
  await client.post(`${project.path}/snapshots/${snapshot.snapshot_id}/restore`);
  assert.deepEqual(await status(), ['started', 'started', 'stopped']);
  const after = await openTelnet(vm.console as number);
  await shows(after, 'kept');
  after.close();
  const { path } = await client.get<{ path: string }>(project.path);
  assert.deepEqual(
    (await readdir(path)).filter((name) => name.startsWith('.')),
    ['.memory'],
  );
  await client.delete(`${project.path}/snapshots/${snapshot.snapshot_id}`);
  assert.deepEqual(await readdir(join(path, '.memory')), []);
});
