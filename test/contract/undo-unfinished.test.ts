/** Undo of deletions of what could not be made when it was deleted: a node without its image, and a link that is not connected. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Undone } from '../../src/schema/history.ts';
import { expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, end, type NodeBody, tinyVm, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const sector = 512;

test('a node whose image is missing comes back without it, and with its files once the image is there', async () => {
  const image = join(server.dataDir, 'images', 'undone.img');
  await mkdir(join(server.dataDir, 'images'), { recursive: true });
  await writeFile(image, Buffer.alloc(sector));
  const project = await createProject(client, { auto_close: false });
  const properties = { ...tinyVm, hda_disk_image: image };
  const node = await createNode(client, project, 'qemu', { properties });
  const path = `${project.path}/nodes/${node.node_id}`;
  const notes = join(String(node.node_directory), 'notes.txt');
  await client.send(`POST ${path}/files/notes.txt`, { raw: 'mine' });
  await rename(image, `${image}.away`);
  // The second time the node is deleted as it came back.
  for (const _time of [1, 2]) {
    await client.delete(path);
    await client.post<Undone>(`${project.path}/undo`, {}, 200);
    assert.match(String((await client.get<NodeBody>(path)).command_line), /was not found/);
  }
  await server.kill9();
  await server.restart();
  await rename(`${image}.away`, image);
  await client.post(`${path}/start`, {}, 200);
  assert.equal(await readFile(notes, 'utf8'), 'mine');
  await client.delete(project.path);
});

test('a link that its compute refused comes back as it was', async () => {
  const folder = join(server.dataDir, 'projects', 'unconnected');
  await mkdir(folder, { recursive: true });
  const [hub, cloud, link_id] = [randomUUID(), randomUUID(), randomUUID()];
  const missing = { type: 'ethernet', interface: 'pbnone0', name: 'pbnone0', port_number: 0 };
  const nodes = [
    { node_id: hub, name: 'hub', node_type: 'ethernet_hub', compute_id: 'local', properties: {} },
    { node_id: cloud, name: 'cloud', node_type: 'cloud', compute_id: 'local', properties: { ports_mapping: [missing] } },
  ];
  const ends = [hub, cloud].map((node_id) => ({ ...end({ node_id }), label: { text: 'port', style: '' } }));
  const links = [{ link_id, nodes: ends }];
  const project = { name: 'unconnected', project_id: randomUUID(), revision: 9, version: '2.2.60', type: 'topology' };
  const file = join(folder, 'unconnected.gns3');
  await writeFile(file, JSON.stringify({ ...project, topology: { computes: [], drawings: [], nodes, links } }));
  const { project_id } = await client.post<{ project_id: string }>('/v2/projects/load', { path: file });
  const link = `/v2/projects/${project_id}/links/${link_id}`;
  const before = await client.get(link);
  await client.delete(link);
  await client.post<Undone>(`/v2/projects/${project_id}/undo`, {}, 200);
  assert.deepEqual(await client.get(link), before);
  // A new one is refused all the same.
  await client.delete(link);
  expectStatus(await client.send(`POST /v2/projects/${project_id}/links`, { body: { nodes: ends } }), 409);
});
