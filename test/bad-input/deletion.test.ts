/** Deletion of a project during other work in its folder: nothing of it remains, and no request waits for a slow client. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, freshName, withServer } from '../support/with-server.ts';

const bench = await withServer();
const { client } = bench;
/** Files go after the answer. */
const noFolders = (what: string) =>
  waitFor(async () => (await readdir(join(bench.server.dataDir, 'projects'))).length === 0, { what: `no folder, ${what}` });
const picture = `<svg>${'x'.repeat(2000)}</svg>`;

/** An upload of which half has arrived in this folder. */
async function beginUpload(path: string, folder: string): Promise<{ finish(): Promise<number> }> {
  const outgoing = request(new URL(path, client.base), { method: 'POST', headers: { 'content-length': '8' } });
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  outgoing.write('half');
  await waitFor(async () => (await readdir(folder).catch(() => [])).length > 0, { what: 'the first half of an upload' });
  return {
    async finish() {
      outgoing.end('rest');
      const [answer] = await answered;
      answer.resume();
      return answer.statusCode ?? 0;
    },
  };
}

/** Each is requested repeatedly until the deletion is answered, so that some coincide with each of its steps. */
async function deleteMeanwhile(path: string, lines: readonly [string, unknown?][]): Promise<void> {
  let isOver = false;
  const again = async ([line, body]: readonly [string, unknown?]) => {
    do {
      const reply = await client.send(line, body === undefined ? {} : { body });
      if (reply.status >= 300) expectFault(reply, [403, 404, 409]);
    } while (!isOver);
  };
  const pending = Promise.all(lines.map(again));
  const deletion = client.send(`DELETE ${path}`).finally(() => {
    isOver = true;
  });
  expectStatus(await deletion, 204);
  await pending;
}

describe('a project is deleted', () => {
  for (const side of ['path', 'computePath'] as const) {
    test(`while a file is uploaded below ${side === 'path' ? '/v2/projects' : '/v2/compute/projects'}`, async () => {
      const project = await createProject(client);
      await createNode(client, project);
      const folder = join(bench.server.dataDir, 'projects', project.id, 'new', 'folder');
      const upload = await beginUpload(`${project[side]}/files/new/folder/a.txt`, folder);
      expectStatus(await client.send(`DELETE ${project.path}`), 204);
      assert.equal(await upload.finish(), 404);
      await noFolders('after an upload');
    });
  }

  const work: Record<string, (project: { path: string }, node: { node_id: string }) => [string, unknown?][]> = {
    files: ({ path }, { node_id }) => [
      [`POST ${path}/files/new/a.txt`, 'a'],
      [`POST ${path}/files/project-files/b.txt`, 'b'],
      [`POST ${path}/nodes/${node_id}/files/new/c.txt`, 'c'],
    ],
    snapshots: ({ path }) => [
      [`POST ${path}/snapshots`, { name: 'one' }],
      [`POST ${path}/snapshots`, { name: 'two' }],
      [`GET ${path}/snapshots`],
    ],
    drawings: ({ path }) => [[`POST ${path}/drawings`, { svg: picture }]],
    nodes: ({ path }, { node_id }) => [
      [
        `POST ${path}/nodes`,
        { name: 'late', node_type: 'vpcs', compute_id: 'local', properties: { startup_script: 'ip 10.0.0.1/24' } },
      ],
      [`POST ${path}/nodes/${node_id}/duplicate`, { x: 1, y: 1 }],
      [`DELETE ${path}/nodes/${node_id}`],
      [`POST ${path}/undo`],
    ],
    life: ({ path }) => [
      [`POST ${path}/close`],
      [`POST ${path}/open`],
      [`POST ${path}/nodes/start`],
      [`PUT ${path}`, { zoom: 50 }],
    ],
  };
  for (const [what, requests] of Object.entries(work)) {
    test(`while it is worked on: ${what}`, async () => {
      for (let turn = 0; turn < 8; turn++) {
        const project = await createProject(client);
        const node = await createNode(client, project);
        await deleteMeanwhile(project.path, requests(project, node));
        await noFolders(`turn ${turn}`);
        expectFault(await client.send(`GET ${project.path}`), 404);
      }
    });
  }

  test('by the compute alone, while it is worked on', async () => {
    for (let turn = 0; turn < 8; turn++) {
      const { project_id } = await client.post('/v2/compute/projects', { name: freshName('elsewhere') });
      const other = await client.post('/v2/compute/projects', { name: freshName('source') });
      const path = `/v2/compute/projects/${project_id}`;
      const nodes = await Promise.all(
        [1, 2].map(() => client.post(`${path}/vpcs/nodes`, { name: 'PC', startup_script: 'ip 1.1.1.1/24' })),
      );
      const lines: [string, unknown?][] = [
        [`POST ${path}/files/new/a.txt`, 'a'],
        [`POST ${path}/vpcs/nodes`, { name: 'late', startup_script: 'ip 1.1.1.1/24' }],
        [`DELETE ${path}/vpcs/nodes/${nodes[0]?.node_id}`, { keep_files: true }],
        [`POST ${path}/vpcs/nodes/${nodes[1]?.node_id}/start`],
        [`POST ${path}/ports/udp`],
        [`PUT ${path}`, { variables: [{ name: 'a' }] }],
        [`POST /v2/compute/projects/${other.project_id}/copy`, { destination_project_id: project_id, nodes: {} }],
      ];
      await deleteMeanwhile(path, lines);
      await client.delete(`/v2/compute/projects/${other.project_id}`);
      await noFolders(`turn ${turn}`);
    }
    const { console_ports, udp_ports } = await client.get('/v2/compute/network/ports');
    assert.deepEqual({ console_ports, udp_ports }, { console_ports: [], udp_ports: [] });
  });
});
