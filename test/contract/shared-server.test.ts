/** Attacks of an authenticated user on the host of a server that is not local, through machines, images and names. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { ZipFile } from 'yazl';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, freshName, type NodeBody, tinyVm, withServer } from '../support/with-server.ts';

const { server, client } = await withServer({ config: { Server: { local: false } } });
const folder = await mkdtemp(join(tmpdir(), 'pb-shared-'));
after(() => rm(folder, { recursive: true }));
const project = await createProject(client);
const unsafe = `${tinyVm.options} -device virtio-net-pci,romfile=/etc/passwd`;
const refusal = /romfile.*Remove it, or set allow_unsafe_options = True/;
const qemuImg = (...args: string[]) => promisify(execFile)('qemu-img', args);

test('options of the host are refused when a node or a template is made or changed, and nothing is kept', async () => {
  const node = { name: 'N', node_type: 'qemu', compute_id: 'local', properties: { ...tinyVm, options: unsafe } };
  expectFault(await client.send(`POST ${project.path}/nodes`, { body: node }), 409, refusal);
  expectFault(await client.send(`POST ${project.path}/bulk`, { body: { nodes: [node] } }), 409, refusal);
  assert.deepEqual(await client.get(`${project.path}/nodes`), []);
  const template = { name: freshName('T'), template_type: 'qemu', compute_id: 'local', qemu_path: 'qemu-system-x86_64' };
  expectFault(await client.send('POST /v2/templates', { body: { ...template, options: unsafe } }), 409, refusal);
  const { template_id } = await client.post<{ template_id: string }>('/v2/templates', { ...template, options: '-nographic' });
  expectFault(await client.send(`PUT /v2/templates/${template_id}`, { body: { options: unsafe } }), 409, refusal);
  assert.equal((await client.get(`/v2/templates/${template_id}`)).options, '-nographic');
  const made = await createNode(client, project, 'qemu', { properties: tinyVm });
  const change = { properties: { options: unsafe } };
  expectFault(await client.send(`PUT ${project.path}/nodes/${made.node_id}`, { body: change }), 409, refusal);
  const { properties } = await client.get<NodeBody>(`${project.path}/nodes/${made.node_id}`);
  assert.equal(properties.options, tinyVm.options);
  expectStatus(await client.send(`POST ${project.path}/nodes/${made.node_id}/start`), 200);
  await client.delete(`${project.path}/nodes/${made.node_id}`);
});

test('a project that brings such options is opened and kept; its node does not start', async () => {
  const made = await createNode(client, project, 'qemu', { name: 'brought', properties: tinyVm });
  const file = JSON.parse(await readFile(await projectFile(), 'utf8')) as { topology: { nodes: NodeBody[] } };
  for (const node of file.topology.nodes) node.properties.options = unsafe;
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from(JSON.stringify(file)), 'project.gns3');
  zip.end();
  const brought = await buffer(zip.outputStream);
  const id = crypto.randomUUID();
  expectStatus(await client.send(`POST /v2/projects/${id}/import?name=brought`, { raw: brought }), 201);
  await client.post(`/v2/projects/${id}/open`, {}, 201);
  const [node] = await client.get<NodeBody[]>(`/v2/projects/${id}/nodes`);
  assert.equal(node?.properties.options, unsafe);
  expectFault(await client.send(`POST /v2/projects/${id}/nodes/${node.node_id}/start`), 409, refusal);
  // An invalid old value may stay when another one changes.
  expectStatus(await client.send(`PUT /v2/projects/${id}/nodes/${node.node_id}`, { body: { properties: { ram: 32 } } }), 200);
  await client.delete(`/v2/projects/${id}`);
  await client.delete(`${project.path}/nodes/${made.node_id}`);
});

async function projectFile(): Promise<string> {
  await client.post(`${project.path}/close`, {}, 204);
  const place = join(server.dataDir, 'projects', project.id);
  const name = (await readdir(place)).find((each) => each.endsWith('.gns3')) ?? '';
  await client.post(`${project.path}/open`, {}, 201);
  return join(place, name);
}

test('images that name files of the host are refused wherever they arrive', async () => {
  const target = join(folder, 'image.qcow2');
  const hostile: [string, string[], RegExp][] = [
    ['backing', ['-F', 'raw', '-u', '-b', '/etc/passwd', target, '1M'], /outside the image folders/],
    ['address', ['-F', 'raw', '-u', '-b', 'nbd:127.0.0.1:1', target, '1M'], /which is no file/],
    ['data', ['-o', `data_file=${join(folder, 'data')}`, target, '1M'], /data is in another file/],
  ];
  for (const [name, args, words] of hostile) {
    await rm(target, { force: true });
    await qemuImg('create', '-q', '-f', 'qcow2', ...args);
    const raw = await readFile(target);
    expectFault(await client.send(`POST /v2/compute/qemu/images/${name}.qcow2`, { raw }), 409, words);
    if (name === 'backing') continue;
    for (const path of [
      `${project.path}/files/${name}`,
      `${project.computePath}/files/project-files/qemu/${crypto.randomUUID()}/hda_disk.qcow2`,
    ]) {
      expectFault(await client.send(`POST ${path}`, { raw }), 403, words);
    }
  }
  assert.deepEqual(
    (await readdir(join(server.dataDir, 'images', 'QEMU'))).filter((name) => /qcow2|tmp/.test(name)),
    [],
  );
});

test('a disk in an archive whose backing file is a file of the host is refused when its node starts, and when it is resized', async () => {
  const secret = join(folder, 'secret.raw');
  await writeFile(secret, Buffer.alloc(1024 ** 2, 'secret '));
  const made = await createNode(client, project, 'qemu', { name: 'disk', properties: tinyVm });
  const stored = (JSON.parse(await readFile(await projectFile(), 'utf8')) as { topology: { nodes: NodeBody[] } }).topology.nodes;
  await client.delete(`${project.path}/nodes/${made.node_id}`);
  const disk = join(folder, 'hda_disk.qcow2');
  for (const [at, backing] of [secret, `${'../'.repeat(12)}${secret.slice(1)}`].entries()) {
    await qemuImg('create', '-q', '-f', 'qcow2', '-u', '-F', 'raw', '-b', backing, disk, '1M');
    const id = crypto.randomUUID();
    const topology = { nodes: stored, links: [], drawings: [], computes: [] };
    for (const node of stored)
      Object.assign(node.properties, { hda_disk_image: `disk${at}.qcow2`, hda_disk_interface: 'ide', linked_clone: false });
    const zip = new ZipFile();
    const file = { name: 'disk', project_id: id, revision: 9, type: 'topology', version: '2.2.44', topology };
    zip.addBuffer(Buffer.from(JSON.stringify(file)), 'project.gns3');
    zip.addFile(disk, `disk${at}.qcow2`);
    zip.addFile(disk, `project-files/qemu/${stored[0]?.node_id}/hda_disk.qcow2`);
    zip.end();
    expectStatus(await client.send(`POST /v2/projects/${id}/import?name=disk${at}`, { raw: await buffer(zip.outputStream) }), 201);
    await client.post(`/v2/projects/${id}/open`, {}, 201);
    const [node] = await client.get<NodeBody[]>(`/v2/projects/${id}/nodes`);
    const path = `/v2/projects/${id}/nodes/${node?.node_id}`;
    expectFault(await client.send(`POST ${path}/start`), 409, /secret\.raw/);
    assert.equal((await client.get<NodeBody>(path)).status, 'stopped');
    const resize = { body: { drive_name: 'hda', extend: 1 } };
    expectFault(await client.send(`POST ${path}/resize_disk`, resize), 409, /secret\.raw/);
    await client.delete(`/v2/projects/${id}`);
  }
});

test('names that deceive people or programs are refused', async () => {
  for (const name of ['a\nb', 'a\u001b[2J', '\u0085', '\ud800']) {
    const node = { name, node_type: 'vpcs', compute_id: 'local' };
    expectFault(await client.send(`POST ${project.path}/nodes`, { body: node }), 400, /name/);
    const template = { name, template_type: 'vpcs', compute_id: 'local' };
    expectFault(await client.send('POST /v2/templates', { body: template }), 400, /name/);
  }
  for (const name of ['-rf', 'folder/-x', 'a%0Ab', '%1b[2J']) {
    expectFault(await client.send(`POST /v2/compute/qemu/images/${name}`, { raw: 'x' }), 403, /dash|control/);
  }
  const image = { qemu_img: 'qemu-img', path: '-x.qcow2', format: 'qcow2', size: 1 };
  expectFault(await client.send('POST /v2/compute/qemu/img', { body: image }), 403, /dash/);
});

test('what lies among projects and images is no emulator, on a local server either', async () => {
  const place = join(server.dataDir, 'projects', 'x');
  await mkdir(place, { recursive: true });
  await writeFile(join(place, 'qemu-system-x86_64'), '#!/bin/sh\n', { mode: 0o755 });
  await symlink(place, join(folder, 'link'));
  for (const path of [place, join(folder, 'link')]) {
    const properties = { ...tinyVm, qemu_path: join(path, 'qemu-system-x86_64') };
    const { properties: kept } = await createNode(client, project, 'qemu', { properties });
    assert.equal(kept.qemu_path, '/usr/bin/qemu-system-x86_64', 'that of PATH is taken');
  }
});

test('no client gives a machine its memory, directly or through the controller', async () => {
  const made = await createNode(client, project, 'qemu', { properties: tinyVm });
  const machine = {
    ...{ program: 'qemu-system-x86_64', release: '7.2', accelerator: 'tcg', cpu: 'qemu64', machine: 'pc-i440fx-7.2' },
    ...{ ramId: 'pc.ram', ramBytes: 64 * 1024 ** 2, uuid: made.node_id, arguments: [], suspended: false },
  };
  const body = { machine, drives: [], images: [] };
  const arrival = `projects/${project.id}/arrivals/${made.node_id}`;
  const own = /takes machines from its own controller only/;
  expectFault(await client.send(`POST /v2/compute/${arrival}`, { body }), 409, own);
  for (const stream of ['memory', 'console', 'drive0']) {
    const raw = Buffer.from('QEVM');
    expectFault(await client.send(`POST /v2/compute/${arrival}/streams/${stream}`, { raw }), 409, own);
    expectFault(await client.send(`GET /v2/compute/${arrival}/streams/${stream}`), 409, own);
  }
  expectFault(await client.send(`POST /v2/compute/${arrival}/wait`), 409, own);
  const encoded = (text: string) => text.replace(/a/g, '%2561');
  for (const path of [arrival, `${arrival}/streams/memory`, encoded(arrival), encoded(`${arrival}/wait`)])
    expectFault(await client.send(`POST /v2/computes/local/${path}`, { body }), 404);
  await client.delete(`${project.path}/nodes/${made.node_id}`);
});
