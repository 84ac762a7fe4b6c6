/** Project files of GNS3 3 (revision 10): opened, imported, and written by exports of `/v3`; those of `/v2` stay at 9. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { fromBufferPromise } from 'yauzl';
import { expectStatus } from '../support/raw-http.ts';
import { type NodeBody, withServer } from '../support/with-server.ts';
import { zipByHand } from '../support/zip-by-hand.ts';

const { server, client } = await withServer();

interface ProjectFile {
  readonly revision: number;
  readonly version: string;
  readonly topology: { readonly nodes: readonly Record<string, unknown>[]; readonly links: readonly unknown[] };
}

/** A project as GNS3 3.1 writes it: two PCs and a link, with keys that 2.2 does not have. */
function projectOf31(name: string): object {
  const [one, other] = [randomUUID(), randomUUID()];
  const pc = (node_id: string) => ({
    ...{ node_id, name: `PC ${node_id.slice(0, 4)}`, node_type: 'vpcs', compute_id: 'local', console_type: 'telnet' },
    ...{ aux: null, aux_type: 'none', tags: ['left'], label: { text: 'PC', x: 1, y: -20, style: null, rotation: 0 } },
    properties: { compute_id: 'local', usage: '' },
  });
  const ends = [one, other].map((node_id) => ({ node_id, adapter_number: 0, port_number: 0, label: { text: '0/0', style: null } }));
  return {
    ...{ name, project_id: randomUUID(), revision: 10, version: '3.1.0', type: 'topology', created_by: 'admin', variables: null },
    topology: {
      computes: [],
      drawings: [],
      nodes: [pc(one), pc(other)],
      links: [{ link_id: randomUUID(), nodes: ends, filters: {}, suspend: false, link_style: { link_type: 'bezier' } }],
    },
  };
}

async function projectFileIn(path: string): Promise<ProjectFile> {
  const { bytes } = expectStatus(await client.send(`GET ${path}`), 200);
  const zip = await fromBufferPromise(bytes);
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName === 'project.gns3') return JSON.parse(String(await buffer(await zip.openReadStreamPromise(entry))));
  }
  throw new Error('no project file');
}

test('a project of GNS3 3 is opened from its folder, which keeps its file, and its nodes work', async () => {
  const folder = join(server.dataDir, 'projects', 'of-three');
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'of three.gns3');
  await writeFile(file, JSON.stringify(projectOf31('of three')));
  const { project_id } = await client.post<{ project_id: string }>('/v2/projects/load', { path: file });
  const nodes = await client.get<NodeBody[]>(`/v3/projects/${project_id}/nodes`);
  assert.equal(nodes.length, 2);
  assert.equal((await client.get<unknown[]>(`/v2/projects/${project_id}/links`)).length, 1);
  for (const { node_id } of nodes)
    expectStatus(await client.send(`POST /v3/projects/${project_id}/nodes/${node_id}/start`, { body: {} }), 204);
  assert.equal((JSON.parse(await readFile(`${file}.backup10`, 'utf8')) as ProjectFile).revision, 10);
  await client.post(`/v2/projects/${project_id}/close`, {}, 204);
  assert.equal((JSON.parse(await readFile(file, 'utf8')) as ProjectFile).revision, 9);
});

test('an export of /v3 has revision 10, one of /v2 has 9, and both are imported again', async () => {
  const raw = zipByHand([{ name: 'project.gns3', content: JSON.stringify(projectOf31('archive')) }]);
  const { project_id } = expectStatus(await client.send(`POST /v3/projects/${randomUUID()}/import`, { raw }), 201).json<{
    project_id: string;
  }>();
  const old = await projectFileIn(`/v2/projects/${project_id}/export?compression=none`);
  const present = await projectFileIn(`/v3/projects/${project_id}/export?compression=none`);
  assert.deepEqual([old.revision, present.revision, present.version], [9, 10, '3.0.6']);
  assert.deepEqual(present.topology, old.topology);
  for (const [way, file] of [
    ['v2', present],
    ['v3', old],
  ] as const) {
    const archive = zipByHand([{ name: 'project.gns3', content: JSON.stringify(file) }]);
    const made = expectStatus(await client.send(`POST /${way}/projects/${randomUUID()}/import`, { raw: archive }), 201);
    const { project_id: copy } = made.json<{ project_id: string }>();
    await client.post(`/v2/projects/${copy}/open`, {}, 201);
    assert.equal((await client.get<unknown[]>(`/v2/projects/${copy}/nodes`)).length, 2);
  }
});
