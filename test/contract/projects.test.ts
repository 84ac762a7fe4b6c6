/** Projects: fields, defaults, states. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, end, freshName, withServer } from '../support/with-server.ts';
import { assertShape, projectShape } from './shapes.ts';

interface ProjectBody {
  project_id: string;
  name: string;
  status: string;
  [key: string]: unknown;
}

const bench = await withServer();
const create = (body: Record<string, unknown> = {}) =>
  bench.client.post<ProjectBody>('/v2/projects', { name: freshName('p'), ...body });
const list = () => bench.client.get<ProjectBody[]>('/v2/projects');

/** Optional fields, a value other than the default each. */
const settings: Record<string, unknown> = {
  auto_close: false,
  auto_open: true,
  auto_start: true,
  drawing_grid_size: 11,
  grid_size: 33,
  scene_height: 700,
  scene_width: 900,
  show_grid: true,
  show_interface_labels: true,
  show_layers: true,
  snap_to_grid: true,
  supplier: { logo: 'logo.png', url: 'http://example.org' },
  variables: [{ name: 'SITE', value: 'north' }, { name: 'EMPTY' }],
  zoom: 50,
};

describe('POST and GET of projects', () => {
  test('name alone gives every field of the table', async () => {
    const project = await create({ name: 'alone' });
    assertShape(project, projectShape, 'project');
    assert.deepEqual(Object.keys(project).sort(), Object.keys(projectShape).sort());
    const { project_id, path, ...rest } = project;
    assert.equal(path, `${bench.server.dataDir}/projects/${project_id}`);
    assert.deepEqual(rest, {
      auto_close: true,
      auto_open: false,
      auto_start: false,
      drawing_grid_size: 25,
      filename: 'alone.gns3',
      grid_size: 75,
      name: 'alone',
      scene_height: 1000,
      scene_width: 2000,
      show_grid: false,
      show_interface_labels: false,
      show_layers: false,
      snap_to_grid: false,
      status: 'opened',
      supplier: null,
      variables: null,
      zoom: 100,
    });
    assert.ok((await stat(`${path}/alone.gns3`)).isFile());
    assert.deepEqual(await bench.client.get(`/v2/projects/${project_id}`), project);
    assert.deepEqual(
      (await list()).find((entry) => entry.project_id === project_id),
      project,
    );
  });

  test('every optional field is kept, and changed by PUT', async () => {
    const project = await create(settings);
    for (const [key, value] of Object.entries(settings)) assert.deepEqual(project[key], value, key);
    const plain = await create();
    const changed = await bench.client.put<ProjectBody>(`/v2/projects/${plain.project_id}`, { ...settings, name: 'renamed' });
    assert.deepEqual(changed, { ...plain, ...settings, name: 'renamed' });
    assert.deepEqual(await bench.client.get(`/v2/projects/${plain.project_id}`), changed);
  });

  test('a given id and path are taken', async () => {
    const project_id = randomUUID();
    const path = `${bench.server.dataDir}/elsewhere`;
    const project = await create({ project_id, path });
    assert.deepEqual([project.project_id, project.path], [project_id, path]);
  });

  test('the same id again is 201 with the project that exists; a taken name is 409', async () => {
    const project = await create();
    assert.deepEqual(await create({ project_id: project.project_id, zoom: 7 }), project);
    expectFault(await bench.client.send('POST /v2/projects', { body: { name: project.name } }), 409, new RegExp(project.name));
  });

  test('an unknown project is 404 everywhere', async () => {
    const gone = `/v2/projects/${randomUUID()}`;
    for (const line of ['GET', 'DELETE', 'PUT', `POST`].map((method) =>
      method === 'POST' ? `POST ${gone}/open` : `${method} ${gone}`,
    )) {
      expectFault(await bench.client.send(line), 404);
    }
    for (const path of ['links', 'nodes', 'drawings', 'snapshots', 'stats'])
      expectFault(await bench.client.send(`GET ${gone}/${path}`), 404);
  });
});

describe('opened and closed', () => {
  test('close is 204, open is 201, both may be repeated', async () => {
    const { project_id } = await create();
    const path = `/v2/projects/${project_id}`;
    for (let round = 0; round < 2; round++) {
      await bench.client.post(`${path}/close`, {}, 204);
      assert.equal((await bench.client.get(path)).status, 'closed');
    }
    for (let round = 0; round < 2; round++) {
      assert.equal((await bench.client.post(`${path}/open`)).status, 'opened');
      assert.equal((await bench.client.get(path)).status, 'opened');
    }
  });

  test('nodes, links and drawings are the same after closing and opening', async () => {
    const project = await createProject(bench.client);
    const [a, b] = [await createNode(bench.client, project), await createNode(bench.client, project, 'qemu')];
    await bench.client.post(`${project.path}/links`, { nodes: [end(a), end(b)], filters: { latency: [7] }, suspend: true });
    await bench.client.post(`${project.path}/drawings`, { svg: '<svg height="1" width="1"></svg>', x: 5 });
    const read = () => Promise.all(['nodes', 'links', 'drawings'].map((what) => bench.client.get(`${project.path}/${what}`)));
    const before = await read();
    await bench.client.post(`${project.path}/close`, {}, 204);
    await bench.client.post(`${project.path}/open`);
    assert.deepEqual(await read(), before);
    assert.deepEqual(await bench.client.get(`${project.path}/stats`), { drawings: 1, links: 1, nodes: 2, snapshots: 0 });
  });

  test('what a killed server left of its own files in the folder is removed, and files of others are not', async () => {
    const { project_id, path } = await create();
    const [left, other] = ['.patchbay-resume.json.tmp', 'notes.tmp'].map((name) => join(String(path), name)) as [string, string];
    await bench.client.post(`/v2/projects/${project_id}/close`, {}, 204);
    for (const file of [left, other]) {
      await writeFile(file, '["');
      await utimes(file, 1, 1);
    }
    await bench.client.post(`/v2/projects/${project_id}/open`);
    await assert.rejects(stat(left), { code: 'ENOENT' });
    await stat(other);
  });

  test('a closed project takes no nodes: 403 until it is opened', async () => {
    const project = await createProject(bench.client);
    await bench.client.post(`${project.path}/close`, {}, 204);
    const body = { name: 'x', node_type: 'vpcs', compute_id: 'local' };
    expectFault(await bench.client.send(`POST ${project.path}/nodes`, { body }), 403, /open/);
    expectFault(await bench.client.send(`GET ${project.path}/nodes/${randomUUID()}`), 403);
    assert.deepEqual(await bench.client.get(`${project.path}/nodes`), []);
  });

  test('closing and deleting give the ports back', async () => {
    const before = await bench.client.get('/v2/compute/network/ports');
    const project = await createProject(bench.client);
    const [a, b] = [await createNode(bench.client, project), await createNode(bench.client, project, 'qemu')];
    await bench.client.post(`${project.path}/links`, { nodes: [end(a), end(b)] });
    await bench.client.post(`${project.path}/close`, {}, 204);
    assert.deepEqual(await bench.client.get('/v2/compute/network/ports'), before);
    await bench.client.post(`${project.path}/open`);
    await bench.client.delete(project.path);
    assert.deepEqual(await bench.client.get('/v2/compute/network/ports'), before);
  });

  test('DELETE removes the folder and the project', async () => {
    const project = await create();
    expectStatus(await bench.client.send(`DELETE /v2/projects/${project.project_id}`), 204);
    await assert.rejects(stat(String(project.path)));
    assert.ok(!(await list()).some(({ project_id }) => project_id === project.project_id));
    await create({ name: project.name });
  });
});

test('everything is the same after the server was started again', async () => {
  const project = await createProject(bench.client, settings);
  const [a, b] = [await createNode(bench.client, project), await createNode(bench.client, project, 'qemu')];
  await bench.client.post(`${project.path}/links`, { nodes: [end(a), end(b)], filters: { packet_loss: [4] } });
  await bench.client.put(`${project.path}/nodes/${a.node_id}`, { x: 17, y: -4, locked: true });
  const read = async () => ({
    projects: (await list()).sort((one, other) => (one.project_id < other.project_id ? -1 : 1)),
    nodes: await bench.client.get(`${project.path}/nodes`),
    links: await bench.client.get(`${project.path}/links`),
    computes: (await bench.client.get<ProjectBody[]>('/v2/computes')).map(({ compute_id }) => compute_id),
  });
  const before = await read();
  await bench.server.restart();
  assert.deepEqual(await read(), before);

  test('are there or gone for those who read them while they are deleted', async () => {
    const statuses = new Set<number>();
    for (let round = 0; round < 20; round += 1) {
      const { project_id } = await create({ auto_close: false });
      const path = `/v2/projects/${project_id}`;
      await bench.client.send(`POST ${path}/close`);
      const reads = async () => {
        for (let status = 0; status !== 404; statuses.add(status)) status = (await bench.client.send(`GET ${path}/nodes`)).status;
      };
      const readers = [reads(), reads(), reads()];
      await bench.client.delete(path);
      await Promise.all(readers);
    }
    assert.deepEqual([...statuses].sort(), [200, 404]);
  });
});
