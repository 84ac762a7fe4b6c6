/** Duplicating while a machine runs, disks and snapshots included; and servers that are not local. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { ZipFile } from 'yazl';
import { expectFault, expectStatus, RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, freshName, type NodeBody, tinyVm, withServer } from '../support/with-server.ts';

interface ProjectBody {
  project_id: string;
  path: string;
  filename: string;
  status: string;
  [key: string]: unknown;
}

const run = promisify(execFile);
const bench = await withServer();

describe('a running machine', () => {
  test('runs on, is paused only for the instant, and the copy has its disk', async () => {
    const project = await createProject(bench.client);
    const image = { qemu_img: 'qemu-img', path: 'disk.qcow2', format: 'qcow2', size: 64 };
    await bench.client.post('/v2/compute/qemu/img', image);
    const properties = { ...tinyVm, hda_disk_image: 'disk.qcow2', hda_disk_interface: 'ide' };
    const vm = await createNode(bench.client, project, 'qemu', { properties });
    const path = `${project.path}/nodes/${vm.node_id}`;
    await bench.client.post(`${path}/start`, {}, 200);
    const telnet = await openTelnet(vm.console as number);
    await telnet.expect(/iPXE|SeaBIOS/);
    const copy = await bench.client.post<ProjectBody>(`${project.path}/duplicate`, { name: freshName('copy') });
    assert.equal(copy.status, 'closed');
    assert.equal((await bench.client.get<NodeBody>(path)).status, 'started');
    await talks(telnet);
    telnet.close();
    await bench.client.post(`/v2/projects/${copy.project_id}/open`);
    const [twin] = await bench.client.get<NodeBody[]>(`/v2/projects/${copy.project_id}/nodes`);
    assert.ok(twin);
    assert.deepEqual([twin.status, twin.node_id === vm.node_id], ['stopped', false]);
    const folder = `${copy.path}/project-files/qemu/${twin.node_id}`;
    const disk = (await readdir(folder)).find((name) => name.endsWith('.qcow2'));
    assert.ok(disk, `no disk in ${folder}`);
    await run('qemu-img', ['check', `${folder}/${disk}`]);
    await bench.client.post(`/v2/projects/${copy.project_id}/nodes/${twin.node_id}/start`, {}, 200);
    await bench.client.post(`${project.path}/nodes/stop`, {}, 204);
    await bench.client.post(`/v2/projects/${copy.project_id}/nodes/stop`, {}, 204);
  });
});

/** The boot ROM of the machine answers keys with output. */
async function talks(telnet: Awaited<ReturnType<typeof openTelnet>>): Promise<void> {
  const seen = telnet.received().length;
  const pressAndLook = () => {
    telnet.send('\x02\r\n');
    return telnet.received().length > seen;
  };
  await waitFor(pressAndLook, { what: 'output of the machine', everyMs: 100 });
}

test('snapshots are copied, and their archives hold the ids of the copy', async () => {
  const project = await createProject(bench.client);
  const vm = await createNode(bench.client, project, 'qemu', { properties: tinyVm });
  const { path, filename } = await bench.client.get<ProjectBody>(project.path);
  await bench.client.post(`${project.path}/close`, {}, 204);
  await plantSnapshot(path, { project_id: project.id, name: 'before', text: await readFile(`${path}/${filename}`, 'utf8') });
  const copy = await bench.client.post<ProjectBody>(`${project.path}/duplicate`, { name: freshName('copy') });
  // Entries are stored as they are, so the text of the project file can be looked for in the bytes.
  const bytes = await readFile(`${copy.path}/snapshots/before.gns3snapshot`, 'latin1');
  for (const id of [project.id, vm.node_id]) assert.ok(!bytes.includes(id), `${id} is in the archive of the copy`);
  assert.ok(bytes.includes(copy.project_id));
  const [entry] = JSON.parse(await readFile(`${copy.path}/snapshots/snapshots.conf`, 'utf8')) as Record<string, unknown>[];
  assert.deepEqual([entry?.name, entry?.project_id, entry?.filename], ['before', copy.project_id, 'before.gns3snapshot']);
  // Snapshots of the source are unchanged.
  assert.ok((await readFile(`${path}/snapshots/before.gns3snapshot`, 'latin1')).includes(vm.node_id));
});

/** GNS3's format of a snapshot: the project file in an uncompressed archive, and an index. */
async function plantSnapshot(
  path: string,
  { project_id, name, text }: { project_id: string; name: string; text: string },
): Promise<void> {
  await mkdir(`${path}/snapshots`);
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from(text), 'project.gns3', { compress: false });
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(`${path}/snapshots/${name}.gns3snapshot`));
  const entry = { snapshot_id: randomUUID(), name, created_at: 1, description: 'x', filename: `${name}.gns3snapshot`, project_id };
  await writeFile(`${path}/snapshots/snapshots.conf`, JSON.stringify([entry]));
}

describe('a server that is not local', () => {
  const attempt = async (config: Record<string, boolean>, body: Record<string, unknown>) => {
    const server = await startServer({ args: ['--no-local'], config: { Server: config } });
    const client = new RawClient(server.url);
    try {
      assert.equal((await client.get('/v2/version')).local, false);
      const project = await createProject(client);
      const before = await client.get<ProjectBody[]>('/v2/projects');
      const reply = await client.send(`POST ${project.path}/duplicate`, { body });
      return { reply, made: (await client.get<ProjectBody[]>('/v2/projects')).length - before.length };
    } finally {
      client.close();
      await server.stop();
    }
  };

  test('duplication is 403, nothing is made', async () => {
    const { reply, made } = await attempt({}, { name: 'copy' });
    expectFault(reply, 403, /local/);
    assert.equal(reply.headers['x-route'], '/v2/projects/{project_id}/duplicate');
    assert.equal(made, 0);
  });

  test('remote_duplicate = True lifts that', async () => {
    const { reply, made } = await attempt({ remote_duplicate: true }, { name: 'copy' });
    assert.equal(expectStatus(reply, 201).json().name, 'copy');
    assert.equal(made, 1);
  });

  test('a path of the copy outside the projects folder stays 403', async () => {
    const { reply, made } = await attempt({ remote_duplicate: true }, { name: 'copy', path: '/tmp/pb-never-made' });
    assert.equal(reply.status, 403);
    assert.equal(made, 0);
  });

  test('paths of projects and images outside the folders of the server are refused', async () => {
    const server = await startServer({ args: ['--no-local'] });
    const client = new RawClient(server.url);
    try {
      const outside = { name: 'x', path: '/tmp/pb-never-made' };
      expectFault(await client.send('POST /v2/projects', { body: outside }), 403, /path/i);
      const project = await createProject(client);
      const body = { name: 'x', node_type: 'qemu', compute_id: 'local', properties: { hda_disk_image: '/etc/passwd' } };
      expectFault(await client.send(`POST ${project.path}/nodes`, { body }), 409, /outside|not found/);
    } finally {
      client.close();
      await server.stop();
    }
  });
});
