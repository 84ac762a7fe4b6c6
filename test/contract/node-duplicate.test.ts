/** Copies of nodes: properties that are copied or not, and refusals. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { expectFault } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, end, freshName, type NodeBody, tinyVm, withServer } from '../support/with-server.ts';

const run = promisify(execFile);
const bench = await withServer();
let remote: RunningServer;
const awayId = randomUUID();

before(async () => {
  remote = await startServer({ config: { Qemu: { acceleration: 'off' } } });
  const address = { protocol: 'http', host: '127.0.0.1', port: remote.port };
  await bench.client.post('/v2/computes', { compute_id: awayId, name: freshName('away'), ...address });
});
after(() => remote?.stop());

const place = { x: 30, y: -40, z: 3 };

describe('a copy', () => {
  test('has all but id, name, position, lock and the node’s unique properties; links are not copied', async () => {
    const project = await createProject(bench.client);
    const custom_adapters = [{ adapter_number: 0, mac_address: '0c:01:02:03:04:05' }];
    const properties = { ...tinyVm, adapters: 2, mac_address: '0c:aa:bb:cc:dd:00' };
    const fields = { name: 'VM1', symbol: ':/symbols/qemu_guest.svg', custom_adapters, properties, x: 1, y: 2, z: 1 };
    const [vm, peer] = [await createNode(bench.client, project, 'qemu', fields), await createNode(bench.client, project)];
    await bench.client.post(`${project.path}/links`, { nodes: [end(vm), end(peer)] });
    await bench.client.put(`${project.path}/nodes/${vm.node_id}`, { locked: true });
    const listener = await openWebSocket(`${bench.server.url}${project.path}/notifications/ws`);
    const copy = await bench.client.post<NodeBody>(`${project.path}/nodes/${vm.node_id}/duplicate`, place);
    const source = await bench.client.get<NodeBody>(`${project.path}/nodes/${vm.node_id}`);
    assert.notEqual(copy.node_id, vm.node_id);
    assert.notEqual(copy.console, vm.console);
    assert.equal(copy.name, 'VM2');
    assert.deepEqual([copy.x, copy.y, copy.z, copy.locked, copy.status], [30, -40, 3, false, 'stopped']);
    assert.deepEqual(copy.label, { ...(source.label as object), text: 'VM2' });
    for (const key of [
      'symbol',
      'custom_adapters',
      'port_name_format',
      'console_type',
      'node_type',
      'compute_id',
      'width',
      'height',
    ])
      assert.deepEqual(copy[key], source[key], key);
    const { mac_address, ...rest } = copy.properties;
    const { mac_address: theirs, ...others } = source.properties;
    assert.deepEqual(rest, others);
    assert.equal(theirs, '0c:aa:bb:cc:dd:00');
    assert.equal(mac_address, `0c:${copy.node_id.match(/../g)?.slice(1, 4).join(':')}:00:00`);
    assert.deepEqual(await bench.client.get(`${project.path}/nodes/${copy.node_id}/links`), []);
    assert.deepEqual(await bench.client.get(`${project.path}/nodes/${copy.node_id}`), copy);
    const notice = await listener.next((message) => message.toString().includes('"node.created"'), 30_000);
    assert.deepEqual(JSON.parse(notice.toString()).event, copy);
    listener.close();
  });

  test('has its own bootable disk, with the content of the source’s', async () => {
    const project = await createProject(bench.client);
    const image = `${freshName('disk')}.qcow2`;
    await bench.client.post('/v2/compute/qemu/img', { qemu_img: 'qemu-img', path: image, format: 'qcow2', size: 16 });
    const properties = { ...tinyVm, hda_disk_image: image, hda_disk_interface: 'ide' };
    const vm = await createNode(bench.client, project, 'qemu', { properties });
    const path = `${project.path}/nodes/${vm.node_id}`;
    assert.equal((await bench.client.send(`POST ${path}/resize_disk`, { body: { drive_name: 'hda', extend: 8 } })).status, 201);
    await writeFile(join(vm.node_directory as string, 'note.txt'), 'kept');
    const copy = await bench.client.post<NodeBody>(`${path}/duplicate`, { x: 0, y: 0 });
    assert.equal(copy.z, 0);
    const folder = copy.node_directory as string;
    assert.equal(await readFile(join(folder, 'note.txt'), 'utf8'), 'kept');
    const disk = (await readdir(folder)).find((name) => name.endsWith('.qcow2'));
    const { stdout } = await run('qemu-img', ['info', '--output=json', join(folder, String(disk))]);
    assert.equal(JSON.parse(stdout)['virtual-size'], 24 * 1024 * 1024);
    await bench.client.post(`${project.path}/nodes/${copy.node_id}/start`, {}, 200);
    expectFault(
      await bench.client.send(`POST ${project.path}/nodes/${copy.node_id}/resize_disk`, { body: { drive_name: 'hda', extend: 8 } }),
      409,
    );
    await bench.client.post(`${project.path}/nodes/stop`, {}, 204);
  });

  for (const [where, compute] of [
    ['here', () => 'local'],
    ['on a remote compute', () => awayId],
  ] as const) {
    test(`of a VPCS ${where} has its script, under its own name`, async () => {
      const project = await createProject(bench.client);
      const startup_script = 'set pcname PC1\nip 10.0.0.1/24\n';
      const pc = await createNode(bench.client, project, 'vpcs', {
        name: 'PC1',
        compute_id: compute(),
        properties: { startup_script },
      });
      const copy = await bench.client.post<NodeBody>(`${project.path}/nodes/${pc.node_id}/duplicate`, place);
      assert.deepEqual([copy.name, copy.compute_id], ['PC2', compute()]);
      assert.equal(await readFile(join(String(copy.node_directory), 'startup.vpc'), 'utf8'), 'set pcname PC2\nip 10.0.0.1/24\n');
    });
  }

  test('survives a kill of the server', async () => {
    const project = await createProject(bench.client);
    const pc = await createNode(bench.client, project);
    const copy = await bench.client.post<NodeBody>(`${project.path}/nodes/${pc.node_id}/duplicate`, place);
    await bench.server.kill9();
    await bench.server.restart();
    assert.deepEqual(await bench.client.get(`${project.path}/nodes/${copy.node_id}`), copy);
  });
});

describe('refused', () => {
  test('a node that runs', async () => {
    const project = await createProject(bench.client);
    const pc = await createNode(bench.client, project);
    const path = `${project.path}/nodes/${pc.node_id}`;
    await bench.client.post(`${path}/start`, {}, 200);
    expectFault(await bench.client.send(`POST ${path}/duplicate`, { body: place }), 409, /stop it first/);
    assert.equal((await bench.client.get<NodeBody[]>(`${project.path}/nodes`)).length, 1);
    await bench.client.post(`${path}/stop`, {}, 200);
  });

  test('a copy whose files cannot be copied leaves nothing: no node, no name, no folder', async () => {
    const project = await createProject(bench.client);
    const pc = await createNode(bench.client, project, 'vpcs', { name: 'PC1' });
    const ids = (nodes: NodeBody[]) => nodes.map(({ node_id }) => node_id);
    // The compute knows the node, but cannot copy its folder, which is a file.
    const folder = String(pc.node_directory);
    await run('rm', ['-rf', folder]);
    await mkdir(dirname(folder), { recursive: true });
    await writeFile(folder, 'in the way');
    const reply = await bench.client.send(`POST ${project.path}/nodes/${pc.node_id}/duplicate`, { body: place });
    expectFault(reply, 409);
    assert.deepEqual(ids(await bench.client.get<NodeBody[]>(`${project.path}/nodes`)), [pc.node_id]);
    assert.deepEqual(await readdir(dirname(folder)), [pc.node_id]);
    await run('rm', ['-f', folder]);
    const copy = await bench.client.post<NodeBody>(`${project.path}/nodes/${pc.node_id}/duplicate`, place);
    assert.equal(copy.name, 'PC2');
  });

  test('bodies that say no place, unknown nodes, closed projects, disks of a kind without', async () => {
    const project = await createProject(bench.client);
    const pc = await createNode(bench.client, project);
    const path = `${project.path}/nodes/${pc.node_id}`;
    for (const body of [{}, { x: 1 }, { x: 1, y: 2, name: 'x' }, { x: '1', y: 2 }, { x: null, y: 2 }])
      expectFault(await bench.client.send(`POST ${path}/duplicate`, { body }), 400);
    expectFault(await bench.client.send(`POST ${project.path}/nodes/${randomUUID()}/duplicate`, { body: place }), 404);
    const resize = { drive_name: 'hda', extend: 1 };
    expectFault(await bench.client.send(`POST ${path}/resize_disk`, { body: resize }), 404);
    const vm = await createNode(bench.client, project, 'qemu', { properties: tinyVm });
    expectFault(await bench.client.send(`POST ${project.path}/nodes/${vm.node_id}/resize_disk`, { body: resize }), 409, /no disk/);
    for (const body of [{}, { drive_name: 'hde', extend: 1 }, { drive_name: 'hda', extend: 0 }, { ...resize, more: 1 }])
      expectFault(await bench.client.send(`POST ${project.path}/nodes/${vm.node_id}/resize_disk`, { body }), 400);
    await bench.client.post(`${project.path}/close`, {}, 204);
    expectFault(await bench.client.send(`POST ${path}/duplicate`, { body: place }), 403);
  });
});
