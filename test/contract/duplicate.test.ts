/** Duplicating a project: options of the request, and the copied objects with their ids. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import {
  createNode,
  createProject,
  end,
  freshName,
  type NodeBody,
  type ProjectHandle,
  tinyVm,
  withServer,
} from '../support/with-server.ts';
import { assertShape, projectShape } from './shapes.ts';

interface ProjectBody {
  project_id: string;
  name: string;
  path: string;
  filename: string;
  status: string;
  [key: string]: unknown;
}
interface LinkBody {
  link_id: string;
  nodes: { node_id: string }[];
  [key: string]: unknown;
}

const bench = await withServer();
const names = async () => (await bench.client.get<ProjectBody[]>('/v2/projects')).map(({ name }) => name);
const duplicate = (project: ProjectHandle, body: Record<string, unknown> = {}) =>
  bench.client.post<ProjectBody>(`${project.path}/duplicate`, { name: freshName('copy'), ...body });
const open = (copy: ProjectBody) => bench.client.post<ProjectBody>(`/v2/projects/${copy.project_id}/open`);

describe('the request', () => {
  test('name alone: 201, a new closed project of that name with every field', async () => {
    const source = await createProject(bench.client);
    const copy = await duplicate(source, { name: 'verbatim' });
    assertShape(copy, projectShape);
    assert.notEqual(copy.project_id, source.id);
    assert.deepEqual([copy.name, copy.status], ['verbatim', 'closed']);
    assert.deepEqual(await bench.client.get(`/v2/projects/${copy.project_id}`), copy);
    assert.ok((await stat(`${copy.path}/${copy.filename}`)).isFile());
  });

  test('the name is kept verbatim although it is taken', async () => {
    const source = await createProject(bench.client);
    const { name } = await bench.client.get<ProjectBody>(source.path);
    for (const wanted of [name, name, ' spaced  name ', 'Größe', 'a-1'])
      assert.equal((await duplicate(source, { name: wanted })).name, wanted);
    assert.equal((await names()).filter((each) => each === name).length, 3);
  });

  test("name null: a free name that follows from the source's", async () => {
    const source = await createProject(bench.client, { name: 'original' });
    const before = await names();
    const first = await duplicate(source, { name: null });
    const second = await duplicate(source, { name: null });
    for (const copy of [first, second]) assert.match(copy.name, /^original./);
    assert.notEqual(first.name, second.name);
    assert.ok(!before.includes(first.name));
  });

  test('without changes the copy has the settings of the source', async () => {
    const source = await createProject(bench.client, {
      zoom: 66,
      scene_width: 777,
      show_grid: true,
      variables: [{ name: 'A', value: '1' }],
    });
    const copy = await duplicate(source);
    assert.deepEqual([copy.zoom, copy.scene_width, copy.show_grid, copy.variables], [66, 777, true, [{ name: 'A', value: '1' }]]);
  });

  const fields: Record<string, unknown> = {
    auto_close: false,
    drawing_grid_size: 12,
    grid_size: 34,
    scene_height: 345,
    scene_width: 456,
    show_grid: true,
    show_interface_labels: true,
    show_layers: true,
    snap_to_grid: true,
    supplier: { logo: 'l.png', url: 'http://example.org' },
    variables: [{ name: 'B', value: '2' }],
    zoom: 42,
  };
  test('every optional field takes effect in the copy, and survives opening it and a restart', async () => {
    const source = await createProject(bench.client);
    const given = { ...fields, auto_open: true, auto_start: true };
    const copy = await duplicate(source, given);
    const check = (project: ProjectBody) => {
      for (const [key, value] of Object.entries(given)) assert.deepEqual(project[key], value, key);
    };
    check(copy);
    check(await open(copy));
    await bench.server.restart();
    const after = await bench.client.get<ProjectBody>(`/v2/projects/${copy.project_id}`);
    check(after);
    assert.equal(after.status, 'opened');
  });

  test('supplier and variables null clear them in the copy', async () => {
    const source = await createProject(bench.client, { supplier: { url: 'x' }, variables: [{ name: 'A' }] });
    const copy = await duplicate(source, { supplier: null, variables: null });
    assert.deepEqual([copy.supplier, copy.variables], [null, null]);
  });

  test('project_id and path are taken', async () => {
    const source = await createProject(bench.client);
    const project_id = randomUUID();
    const path = `${bench.server.dataDir}/chosen`;
    const copy = await duplicate(source, { project_id, path });
    assert.deepEqual([copy.project_id, copy.path], [project_id, path]);
    assert.ok((await stat(`${path}/${copy.filename}`)).isFile());
    expectFault(await bench.client.send(`POST ${source.path}/duplicate`, { body: { name: 'x', project_id } }), 409);
    expectFault(await bench.client.send(`POST ${source.path}/duplicate`, { body: { name: 'x', path } }), [403, 409]);
  });

  const refused: [Record<string, unknown>, RegExp][] = [
    [{}, /name/],
    [{ name: 5 }, /name/],
    [{ name: '' }, /name/],
    [{ name: 'x', nonsense: 1 }, /nonsense/],
    [{ name: 'x', status: 'opened' }, /status/],
    [{ name: 'x', filename: 'y' }, /filename/],
    [{ name: 'x', project_id: 'nope' }, /project_id/],
    [{ name: 'x', reset_mac_addresses: 'yes' }, /reset_mac/],
    [{ name: 'x', path: 5 }, /path/],
    ...Object.keys(fields).map((key): [Record<string, unknown>, RegExp] => [{ name: 'x', [key]: 'wrong' }, new RegExp(key)]),
  ];
  for (const [body, says] of refused) {
    test(`${JSON.stringify(body)}: 400, no project is made`, async () => {
      const source = await createProject(bench.client);
      const before = await names();
      const folders = await readdir(`${bench.server.dataDir}/projects`);
      expectFault(await bench.client.send(`POST ${source.path}/duplicate`, { body }), 400, says);
      assert.deepEqual(await names(), before);
      assert.deepEqual(await readdir(`${bench.server.dataDir}/projects`), folders);
    });
  }

  test('an unknown source: 404', async () => {
    expectFault(await bench.client.send(`POST /v2/projects/${randomUUID()}/duplicate`, { body: { name: 'x' } }), 404);
  });
});

/** A project with everything in it. */
async function full(): Promise<{ project: ProjectHandle; vpcs: NodeBody; vm: NodeBody }> {
  const project = await createProject(bench.client);
  const vpcs = await createNode(bench.client, project, 'vpcs', { properties: { startup_script: 'set pcname %h\n' } });
  const vm = await createNode(bench.client, project, 'qemu', { properties: tinyVm, x: 12 });
  await bench.client.post(`${project.path}/links`, { nodes: [end(vpcs), end(vm)], filters: { latency: [9] } });
  await bench.client.post(`${project.path}/drawings`, { svg: '<svg height="3" width="4"></svg>', x: 6, rotation: 45 });
  const files = `${project.computePath}/files`;
  expectStatus(await bench.client.send(`POST ${files}/README.txt`, { raw: 'read me' }), 201);
  expectStatus(await bench.client.send(`POST ${files}/project-files/qemu/${vm.node_id}/notes.txt`, { raw: 'of the vm' }), 201);
  return { project, vpcs, vm };
}

async function contentOf(path: string) {
  const [nodes, links, drawings] = await Promise.all([
    bench.client.get<NodeBody[]>(`${path}/nodes`),
    bench.client.get<LinkBody[]>(`${path}/links`),
    bench.client.get<Record<string, unknown>[]>(`${path}/drawings`),
  ]);
  return { nodes, links, drawings };
}

describe('the copied objects', () => {
  test('nodes, links, drawings and files, under new ids', async () => {
    const { project, vm } = await full();
    const source = await contentOf(project.path);
    const copy = await duplicate(project);
    await open(copy);
    const made = await contentOf(`/v2/projects/${copy.project_id}`);
    assert.deepEqual(made.nodes.map(({ name }) => name).sort(), source.nodes.map(({ name }) => name).sort());
    const ids = (content: typeof made) => [
      ...content.nodes.map((each) => each.node_id),
      ...content.links.map((each) => each.link_id),
      ...content.drawings.map((each) => each.drawing_id),
    ];
    assert.equal(new Set([...ids(source), ...ids(made)]).size, 2 * ids(source).length);
    const twin = made.nodes.find(({ name }) => name === vm.name);
    assert.ok(twin);
    assert.deepEqual([twin.x, twin.properties.ram, twin.properties.options], [12, 16, tinyVm.options]);
    assert.deepEqual(made.links[0]?.filters, { latency: [9] });
    assert.deepEqual(
      made.links[0]?.nodes.map(({ node_id }) => made.nodes.some((node) => node.node_id === node_id)),
      [true, true],
    );
    assert.deepEqual([made.drawings[0]?.x, made.drawings[0]?.rotation], [6, 45]);
    assert.equal(await readFile(`${copy.path}/README.txt`, 'utf8'), 'read me');
    assert.equal(await readFile(`${copy.path}/project-files/qemu/${twin.node_id}/notes.txt`, 'utf8'), 'of the vm');
    assert.deepEqual(await readdir(`${copy.path}/project-files/qemu`), [twin.node_id]);
  });

  test('no id of the source remains anywhere in the file of the copy; the source is unchanged', async () => {
    const { project } = await full();
    const before = await contentOf(project.path);
    const copy = await duplicate(project);
    const text = await readFile(`${copy.path}/${copy.filename}`, 'utf8');
    const ids = [project.id, ...before.nodes.map(({ node_id }) => node_id), ...before.links.map(({ link_id }) => link_id)];
    for (const id of ids) assert.ok(!text.includes(id), id);
    assert.deepEqual(
      (await readdir(copy.path)).filter((name) => name.endsWith('.gns3')),
      [copy.filename],
    );
    assert.deepEqual(await contentOf(project.path), before);
  });

  test('a closed source is duplicated and stays closed', async () => {
    const { project } = await full();
    await bench.client.post(`${project.path}/close`, {}, 204);
    const copy = await duplicate(project);
    assert.equal((await bench.client.get<ProjectBody>(project.path)).status, 'closed');
    await open(copy);
    assert.equal((await contentOf(`/v2/projects/${copy.project_id}`)).nodes.length, 2);
  });

  test('reset_mac_addresses gives new addresses, without it they stay', async () => {
    const { project, vm } = await full();
    const mac_address = '02:00:00:00:00:07';
    await bench.client.put(`${project.path}/nodes/${vm.node_id}`, { properties: { mac_address } });
    for (const reset of [true, false]) {
      const copy = await duplicate(project, { reset_mac_addresses: reset });
      await open(copy);
      const twin = (await contentOf(`/v2/projects/${copy.project_id}`)).nodes.find(({ name }) => name === vm.name);
      assert.equal(twin?.properties.mac_address === mac_address, !reset);
    }
  });

  test('a renamed project is duplicated from the file that it has', async () => {
    const { project } = await full();
    await bench.client.put(project.path, { name: freshName('renamed') });
    await open(await duplicate(project));
  });

  test('deleting the copy leaves the source, and the other way round', async () => {
    const { project } = await full();
    const copy = await duplicate(project);
    const other = await duplicate(project);
    expectStatus(await bench.client.send(`DELETE /v2/projects/${copy.project_id}`), 204);
    assert.equal((await contentOf(project.path)).nodes.length, 2);
    expectStatus(await bench.client.send(`DELETE ${project.path}`), 204);
    await open(other);
    assert.equal((await contentOf(`/v2/projects/${other.project_id}`)).nodes.length, 2);
  });
});
