/** Undo, redo and history against a real server: files of nodes come back, conflicts change nothing, and nothing is forgotten. */
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { History, Undone } from '../../src/schema/history.ts';
import { expectFault, RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle } from '../support/with-server.ts';

const server = await startServer({ config: { Qemu: { acceleration: 'off' } }, stopNodes: false });
after(() => server.stop());
const client = new RawClient(server.url);
after(() => client.close());

const undo = (project: ProjectHandle) => client.post<Undone>(`${project.path}/undo`, {}, 200);
const redo = (project: ProjectHandle) => client.post<Undone>(`${project.path}/redo`, {}, 200);
const historyOf = (project: ProjectHandle, query = '') => client.get<History>(`${project.path}/history${query}`);

describe('undo of a deletion', () => {
  it('brings node, links and files back, and the node runs', async () => {
    const project = await createProject(client);
    const [one, two] = [await createNode(client, project), await createNode(client, project)];
    const link = await client.post(`${project.path}/links`, { nodes: [end(one), end(two)], filters: { latency: [3] } });
    const file = join(String(one.node_directory), 'notes.txt');
    await client.post(`${project.path}/nodes/${one.node_id}/start`, {}, 200);
    await writeFile(file, 'mine');
    const before = await client.get<NodeBody>(`${project.path}/nodes/${two.node_id}`);
    await client.delete(`${project.path}/nodes/${one.node_id}`);
    await assert.rejects(readFile(file));
    await undo(project);
    assert.equal(await readFile(file, 'utf8'), 'mine');
    const back = await client.get<NodeBody>(`${project.path}/nodes/${one.node_id}`);
    assert.deepEqual([back.name, back.console, back.status], [one.name, one.console, 'stopped']);
    const again = await client.get(`${project.path}/links/${link.link_id}`);
    assert.deepEqual(again.filters, { latency: [3] });
    await client.post(`${project.path}/nodes/${one.node_id}/start`, {}, 200);
    assert.deepEqual(await client.get(`${project.path}/nodes/${two.node_id}`), before);
    await redo(project);
    assert.deepEqual(await client.get(`${project.path}/links`), []);
    await client.post(`${project.path}/close`, {}, 204);
  });

  it('does so after the server was killed', async () => {
    const project = await createProject(client);
    const node = await createNode(client, project, 'qemu', { properties: { ram: 77 } });
    await writeFile(join(await folderOf(node), 'disk'), 'data');
    await client.delete(`${project.path}/nodes/${node.node_id}`);
    await server.kill9();
    await server.restart();
    await undo(project);
    const back = await client.get<NodeBody>(`${project.path}/nodes/${node.node_id}`);
    assert.equal(back.properties.ram, 77);
    assert.equal(await readFile(join(String(node.node_directory), 'disk'), 'utf8'), 'data');
    const kept = await readdir(join(server.dataDir, 'projects', project.id, '.deleted-nodes'));
    assert.deepEqual(kept, []);
  });
});

/** The folder of a node that has not been started need not be there. */
async function folderOf(node: NodeBody): Promise<string> {
  const { mkdir } = await import('node:fs/promises');
  await mkdir(String(node.node_directory), { recursive: true });
  return String(node.node_directory);
}

describe('history', () => {
  it('lists the author of each change, page by page', async () => {
    const project = await createProject(client);
    const headers = { 'x-patchbay-client': 'Ann\tB ', 'user-agent': 'tester/1' };
    const body = { name: 'N', node_type: 'vpcs', compute_id: 'local' };
    const made = await client.send(`POST ${project.path}/nodes`, { body, headers });
    assert.equal(made.status, 201);
    const { node_id } = made.json<NodeBody>();
    await client.send(`PUT ${project.path}/nodes/${node_id}`, { body: { x: 1 }, headers: { 'user-agent': 'tester/1' } });
    await client.post(`${project.path}/nodes/${node_id}/start`, {}, 200);
    const all = await historyOf(project);
    const steps = all.entries.filter(({ step }) => step !== null);
    assert.deepEqual(
      steps.map(({ action, by, id, name }) => [action, by, id, name]),
      [
        ['node.updated', 'tester/1', node_id, 'N'],
        ['node.created', 'Ann B', node_id, 'N'],
      ],
    );
    assert.equal(all.undo, steps[0]?.step);
    const first = await historyOf(project, '?limit=1');
    assert.equal(first.entries.length, 1);
    const next = await historyOf(project, `?limit=1&before=${first.entries[0]?.seq}`);
    assert.deepEqual(next.entries, all.entries.slice(1, 2));
    for (const bad of ['limit=0', 'limit=x', 'limit=99999', 'before=-1'])
      expectFault(await client.send(`GET ${project.path}/history?${bad}`), 400, /must be a whole number/);
    await client.post(`${project.path}/close`, {}, 204);
    expectFault(await client.send(`GET ${project.path}/history`), 403);
    expectFault(await client.send(`POST ${project.path}/undo`), 403);
  });

  it('names an author in UTF-8 or Latin-1', async () => {
    const project = await createProject(client);
    for (const [name, encoding] of [
      ['Ада', 'utf8'],
      ['André', 'utf8'],
      ['André', 'latin1'],
    ] as const) {
      const headers = { 'x-patchbay-client': Buffer.from(name, encoding).toString('latin1') };
      await client.send(`POST ${project.path}/drawings`, { raw: Buffer.from('{}'), headers });
      assert.equal((await historyOf(project, '?limit=1')).entries[0]?.by, name);
    }
  });

  it('says which fields a change changed, from what to what, in bounds', async () => {
    const project = await createProject(client);
    const nodes = [
      await createNode(client, project, 'qemu', { name: 'A' }),
      await createNode(client, project, 'qemu', { name: 'B' }),
    ];
    const [one, other] = nodes as [NodeBody, NodeBody];
    const link = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(one), end(other)] });
    const lastFields = async () => (await historyOf(project, '?limit=1')).entries[0]?.fields;
    assert.deepEqual(await lastFields(), []);
    const usage = 'u'.repeat(5_000);
    await client.put(`${project.path}/nodes/${one.node_id}`, { name: 'Edge', x: 7, properties: { ram: 96, usage } });
    assert.deepEqual(await lastFields(), [
      { field: 'label.text', from: 'A', to: 'Edge' },
      { field: 'name', from: 'A', to: 'Edge' },
      { field: 'properties.ram', from: one.properties?.ram, to: 96 },
      { field: 'properties.usage', from: '', to: `${'u'.repeat(200)}…` },
      { field: 'x', from: one.x, to: 7 },
    ]);
    await client.put(`${project.path}/links/${link.link_id}`, { filters: { delay: [20, 0] } }, 201);
    await client.put(`${project.path}/links/${link.link_id}`, { filters: { delay: [40, 5], packet_loss: [2] } }, 201);
    assert.deepEqual(await lastFields(), [
      { field: 'filters.delay', from: [20, 0], to: [40, 5] },
      { field: 'filters.packet_loss', from: null, to: [2] },
    ]);
    const undone = await undo(project);
    assert.deepEqual(undone.changes[0]?.fields[0], { field: 'filters.delay', from: [40, 5], to: [20, 0] });
    const names = Array.from({ length: 20 }, (_, number) => ({ name: `V${number}`, value: 'x'.repeat(100) }));
    await client.put(project.path, { variables: names, scene_width: 3000 });
    const fields = await lastFields();
    assert.deepEqual(
      fields?.map(({ field }) => field),
      ['scene_width', 'variables'],
    );
    assert.equal(String(fields?.[1]?.to).length, 201);
  });

  it('has nothing to undo in a new project, and reports a concurrent change', async () => {
    const project = await createProject(client);
    expectFault(await client.send(`POST ${project.path}/undo`), 409, /nothing to undo/);
    expectFault(await client.send(`POST ${project.path}/redo`), 409, /nothing to redo/);
    await createNode(client, project);
    const { undo: step } = await historyOf(project);
    await client.post(`${project.path}/drawings`, {});
    expectFault(await client.send(`POST ${project.path}/undo`, { body: { step } }), 409, /by now/);
    assert.equal((await client.get<unknown[]>(`${project.path}/drawings`)).length, 1);
  });

  it('stays while many changes go through snapshots', async () => {
    const project = await createProject(client);
    const node = await createNode(client, project);
    const moves = 1_200;
    for (let done = 0; done < moves; done += 50) {
      const burst = Array.from({ length: 50 }, (_, n) => client.put(`${project.path}/nodes/${node.node_id}`, { x: done + n + 1 }));
      await Promise.all(burst);
    }
    const { x } = await client.get<NodeBody>(`${project.path}/nodes/${node.node_id}`);
    await client.post(`${project.path}/close`, {}, 204);
    await client.post(`${project.path}/open`);
    const { entries } = await historyOf(project, '?limit=1000');
    assert.equal(entries.length, 1_000);
    for (let n = 0; n < 20; n++) await undo(project);
    for (let n = 0; n < 20; n++) await redo(project);
    assert.equal((await client.get<NodeBody>(`${project.path}/nodes/${node.node_id}`)).x, x);
  });
});
