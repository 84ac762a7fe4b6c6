/** Snapshots, exports and imports of nodes that are on another compute: their files are fetched from there and sent there. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { expectStatus } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { createNode, createProject, type NodeBody, withServer } from '../support/with-server.ts';

const { client } = await withServer();
const far = await startServer({ config: { Qemu: { acceleration: 'off' } } });
after(() => far.stop());
const farProjects = join(far.dataDir, 'projects');
const { compute_id } = await client.post<{ compute_id: string }>('/v2/computes', {
  protocol: 'http',
  host: '127.0.0.1',
  port: far.port,
  name: 'far',
});

test('the files of a node on a remote compute are in snapshots and archives, and are restored', async () => {
  const project = await createProject(client);
  const here = await createNode(client, project, 'vpcs', { name: 'here' });
  const there = await createNode(client, project, 'vpcs', { name: 'there', compute_id });
  const file = `${project.path}/nodes/${there.node_id}/files/notes.txt`;
  await client.send(`POST ${file}`, { raw: 'first' });
  await client.post(`${project.path}/nodes/${there.node_id}/start`, {}, 200);
  const snapshot = await client.post<Snapshot>(`${project.path}/snapshots`, { name: 'kept' });
  assert.equal((await client.get<NodeBody>(`${project.path}/nodes/${there.node_id}`)).status, 'started');
  await client.send(`POST ${file}`, { raw: 'second' });
  await client.send(`POST ${file.replace('notes', 'more')}`, { raw: 'more' });
  // The fetched copy was removed from there.
  assert.deepEqual(await readdir(farProjects), [project.id]);
  await client.post(`${project.path}/snapshots/${snapshot.snapshot_id}/restore`);
  assert.equal((await client.send(`GET ${file}`)).text(), 'first');
  assert.equal((await client.send(`GET ${file.replace('notes', 'more')}`)).status, 404);
  const { path } = await client.get<{ path: string }>(project.path);
  assert.ok(!(await readdir(join(path, 'project-files/vpcs'))).includes(there.node_id), 'its files stayed here');

  const archive = expectStatus(await client.send(`GET ${project.path}/export?keep_compute_ids=yes`), 200).bytes;
  const reply = await client.send(`POST /v2/projects/${randomUUID()}/import?name=brought`, { raw: archive });
  const copy = expectStatus(reply, 201).json<Project & { path: string }>();
  await client.post(`/v2/projects/${copy.project_id}/open`);
  const nodes = await client.get<NodeBody[]>(`/v2/projects/${copy.project_id}/nodes`);
  assert.deepEqual(
    nodes.map(({ name, compute_id: id }) => [name, id]).sort(),
    // The other one waits for its turn.
    [
      ['here', 'local'],
      ['there', compute_id],
    ],
  );
  const twin = nodes.find(({ name }) => name === 'there');
  const sent = join(farProjects, copy.project_id, 'project-files/vpcs', String(twin?.node_id), 'notes.txt');
  assert.equal(await readFile(sent, 'utf8'), 'first');
  assert.ok(here.node_id);
  for (const id of [copy.project_id, project.id]) await client.delete(`/v2/projects/${id}`);
});
