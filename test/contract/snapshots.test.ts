/** Snapshots: they restore a project, even of running machines; names, ids and states as in GNS3. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { SnapshotOutline } from '../../src/schema/outline.ts';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { openTelnet } from '../support/telnet.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, tinyVm, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();

const take = (project: ProjectHandle, name: string) => client.post<Snapshot>(`${project.path}/snapshots`, { name });
const restore = (project: ProjectHandle, { snapshot_id }: Snapshot) =>
  client.post<Project>(`${project.path}/snapshots/${snapshot_id}/restore`);
const folderOf = async (project: ProjectHandle) => (await client.get<{ path: string }>(project.path)).path;

/** Two nodes with a link, a file of a node, and a drawing. */
async function withContent() {
  const project = await createProject(client);
  const one = await createNode(client, project, 'vpcs', { name: 'one', x: 10 });
  const two = await createNode(client, project, 'vpcs', { name: 'two' });
  await client.post(`${project.path}/links`, { nodes: [end(one), end(two)] });
  await client.post(`${project.path}/drawings`, { svg: `<svg>${'<g/>'.repeat(400)}</svg>` });
  const file = `${project.path}/nodes/${one.node_id}/files/startup.vpc`;
  await client.send(`POST ${file}`, { raw: 'ip 10.0.0.1\n' });
  return { project, one, two, file };
}

describe('a snapshot', () => {
  test('has an outline, as a folder and as an archive, and says why when it cannot be read', async () => {
    const { project, one, two } = await withContent();
    const paths: string[] = [];
    for (const archive of [false, true]) {
      const body = { name: archive ? 'packed' : 'plain', archive };
      const { snapshot_id, filename } = await client.post<Snapshot>(`${project.path}/snapshots`, body);
      const path = `${project.path}/snapshots/${snapshot_id}/outline`;
      const { nodes, links, complete } = await client.get<SnapshotOutline>(path);
      assert.equal(complete, true);
      assert.deepEqual(nodes.map(({ node_id, name, x }) => [node_id, name, x]).sort(), [
        ...[
          [one.node_id, 'one', 10],
          [two.node_id, 'two', 0],
        ].sort(),
      ]);
      assert.deepEqual(
        links.map(({ ends }) => ends.toSorted()),
        [[one.node_id, two.node_id].sort()],
      );
      paths.push(join(await folderOf(project), 'snapshots', filename), path);
    }
    const [folder = '', ofFolder, archive = '', ofArchive] = paths;
    await writeFile(join(folder, 'project.gns3'), '{"name":');
    await writeFile(archive, 'PK');
    for (const path of [ofFolder, ofArchive]) expectFault(await client.send(`GET ${path}`), 409, /plain|packed|project\.gns3/);
    expectFault(await client.send(`GET ${project.path}/snapshots/${randomUUID()}/outline`), 404, /snapshot/i);
  });

  test('is described, listed and counted, also when the project is closed', async () => {
    const { project } = await withContent();
    assert.deepEqual(await client.get(`${project.path}/snapshots`), []);
    const snapshot = await take(project, 'before');
    const { created_at, snapshot_id, ...rest } = snapshot;
    const at = new Date(created_at * 1000).toISOString();
    assert.deepEqual(rest, {
      description: `Snapshot 'before' taken on ${at.slice(0, 10)} at ${at.slice(11, 19)}`,
      filename: 'before.gns3snapshot',
      name: 'before',
      project_id: project.id,
    });
    const second = await client.post<Snapshot>(`${project.path}/snapshots`, { name: 'after', description: 'ours' });
    assert.equal(second.description, 'ours');
    const expected = [snapshot, second].sort((a, b) => a.created_at - b.created_at || (a.name < b.name ? -1 : 1));
    assert.deepEqual(await client.get(`${project.path}/snapshots`), expected);
    assert.equal((await client.get<{ snapshots: number }>(`${project.path}/stats`)).snapshots, 2);
    await client.post(`${project.path}/close`, {}, 204);
    assert.deepEqual(await client.get(`${project.path}/snapshots`), expected);
    expectFault(await client.send(`POST ${project.path}/snapshots`, { body: { name: 'closed' } }), 403, /not opened/);
    expectFault(await client.send(`POST ${project.path}/snapshots/${snapshot_id}/restore`), 403);
    expectFault(await client.send(`DELETE ${project.path}/snapshots/${snapshot_id}`), 403);
  });

  test('brings everything back: nodes, links, drawings, files; captures and snapshots stay', async () => {
    const { project, one, two, file } = await withContent();
    const lists = ['nodes', 'links', 'drawings'].map((list) => `${project.path}/${list}`);
    const read = () => Promise.all(lists.map((list) => client.get(list)));
    const before = await read();
    const kept = await take(project, 'kept');
    await client.put(`${project.path}/nodes/${one.node_id}`, { name: 'renamed', x: 99 });
    await client.delete(`${project.path}/nodes/${two.node_id}`);
    await client.send(`POST ${file}`, { raw: 'something else' });
    await createNode(client, project, 'vpcs', { name: 'new' });
    await client.put(project.path, { name: `${project.id} renamed`, auto_close: false });
    const folder = await folderOf(project);
    await mkdir(join(folder, 'project-files/captures'), { recursive: true });
    await writeFile(join(folder, 'project-files/captures/mine.pcap'), 'frames');
    const restored = await restore(project, kept);
    assert.deepEqual([restored.status, restored.name, restored.auto_close], ['opened', `${project.id} renamed`, false]);
    assert.deepEqual(await read(), before);
    assert.equal((await client.send(`GET ${file}`)).text(), 'ip 10.0.0.1\n');
    assert.equal(await readFile(join(folder, 'project-files/captures/mine.pcap'), 'utf8'), 'frames');
    assert.deepEqual(await client.get(`${project.path}/snapshots`), [kept]);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.startsWith('.')),
      ['.kept-presents'],
    );
    // And again after the project was written, closed and opened.
    await client.post(`${project.path}/close`, {}, 204);
    await client.post(`${project.path}/open`);
    assert.deepEqual(await read(), before);
    await restore(project, kept);
    assert.deepEqual(await read(), before);
  });

  test("is GNS3's archive when asked: a file that restores here, and that an import of a stock server reads", async () => {
    const { project, one, two, file } = await withContent();
    const body = { name: 'packed', archive: true };
    const packed = await client.post<Snapshot>(`${project.path}/snapshots`, body);
    const path = join(await folderOf(project), 'snapshots', 'packed.gns3snapshot');
    const bytes = await readFile(path);
    assert.equal(bytes.readUInt32LE(0), 0x04034b50, 'it is no ZIP archive');
    assert.deepEqual((await readdir(join(path, '..'))).toSorted(), ['packed.gns3snapshot', 'snapshots.conf']);
    const [listed] = JSON.parse(await readFile(join(path, '../snapshots.conf'), 'utf8')) as Snapshot[];
    assert.deepEqual(listed, packed);
    await client.delete(`${project.path}/nodes/${two.node_id}`);
    await client.send(`POST ${file}`, { raw: 'something else' });
    await restore(project, packed);
    assert.equal((await client.get<unknown[]>(`${project.path}/nodes`)).length, 2);
    assert.equal((await client.send(`GET ${file}`)).text(), 'ip 10.0.0.1\n');
    const id = randomUUID();
    expectStatus(await client.send(`POST /v2/projects/${id}/import?name=${id}`, { raw: bytes }), 201);
    await client.post(`/v2/projects/${id}/open`);
    const nodes = await client.get<NodeBody[]>(`/v2/projects/${id}/nodes`);
    assert.deepEqual(
      nodes.map(({ name, x }) => [name, x]).toSorted(),
      [
        ['one', one.x],
        ['two', two.x],
      ].toSorted(),
    );
    await client.delete(`${project.path}/snapshots/${packed.snapshot_id}`);
    assert.deepEqual(await readdir(join(path, '..')), ['snapshots.conf']);
  });

  test('is notified, part by part and as a whole', async () => {
    const { project, one, two } = await withContent();
    const kept = await take(project, 'kept');
    await client.delete(`${project.path}/nodes/${two.node_id}`);
    const added = await createNode(client, project, 'vpcs', { name: 'added' });
    const socket = await openWebSocket(`${server.url}${project.path}/notifications/ws`);
    await restore(project, kept);
    await socket.next((message) => message.includes('"snapshot.restored"'));
    socket.close();
    const notices = socket.messages.map((message) => JSON.parse(String(message)) as { action: string; event: Partial<NodeBody> });
    const of = (action: string) => notices.filter((notice) => notice.action === action).map(({ event }) => event.node_id ?? '');
    assert.deepEqual([of('node.deleted'), of('link.created').length], [[added.node_id], 1]);
    assert.deepEqual(of('node.created').sort(), [one.node_id, two.node_id].sort());
    assert.deepEqual(notices.at(-1), { action: 'snapshot.restored', event: kept });
  });

  test('goes when it is deleted, with its files', async () => {
    const project = await createProject(client);
    const snapshot = await take(project, 'gone');
    const path = `${project.path}/snapshots/${snapshot.snapshot_id}`;
    expectStatus(await client.send(`DELETE ${path}`), 204);
    expectFault(await client.send(`DELETE ${path}`), 404, /doesn't exist/);
    expectFault(await client.send(`POST ${path}/restore`), 404);
    assert.deepEqual(await readdir(join(await folderOf(project), 'snapshots')), ['snapshots.conf']);
    await take(project, 'gone');
  });

  test('has a name that no other has and that a file can have', async () => {
    const project = await createProject(client);
    await take(project, 'taken');
    const attempt = (name: unknown) => client.send(`POST ${project.path}/snapshots`, { body: { name } });
    expectFault(await attempt('taken'), 409, /taken/);
    for (const name of ['a/b', '..', '.hidden', 'a\\b', ' ', 'x'.repeat(300)]) expectFault(await attempt(name), 409, /name/);
    for (const name of ['', 5, null, 'nul\0']) expectFault(await attempt(name), 400);
    expectFault(await client.send(`POST ${project.path}/snapshots/${randomUUID()}/restore`), 404);
    assert.equal((await client.get<Snapshot[]>(`${project.path}/snapshots`)).length, 1);
    for (const name of ['ünï çödé', "it's 100 %", 'a.b', '#1']) await restore(project, await take(project, name));
  });
});

test('of a running machine: it runs on, its disk is kept, and a restore stops it', async () => {
  const project = await createProject(client);
  await client.post('/v2/compute/qemu/img', { qemu_img: 'qemu-img', path: 'snap.qcow2', format: 'qcow2', size: 64 });
  const properties = { ...tinyVm, hda_disk_image: 'snap.qcow2', hda_disk_interface: 'ide' };
  const vm = await createNode(client, project, 'qemu', { properties });
  const pc = await createNode(client, project, 'vpcs');
  await client.post(`${project.path}/links`, { nodes: [end(vm), end(pc)] });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  const telnet = await openTelnet(vm.console as number);
  await telnet.expect(/iPXE|SeaBIOS/);
  const snapshot = await take(project, 'running');
  const status = async () => (await client.get<NodeBody[]>(`${project.path}/nodes`)).map((node) => node.status);
  assert.deepEqual(await status(), ['started', 'started']);
  telnet.close();
  const kept = join(await folderOf(project), 'snapshots', snapshot.filename, 'project-files/qemu', vm.node_id);
  assert.ok((await readdir(kept)).some((name) => name.endsWith('.qcow2')));
  await restore(project, snapshot);
  assert.deepEqual(await status(), ['stopped', 'stopped']);
  await client.post(`${project.path}/nodes/start`, {}, 204);
  assert.deepEqual(await status(), ['started', 'started']);
  await client.post(`${project.path}/nodes/stop`, {}, 204);
});

test('snapshots survive the server, and so does a restore', async () => {
  const { project, one } = await withContent();
  const snapshot = await take(project, 'lasting');
  await client.put(`${project.path}/nodes/${one.node_id}`, { x: 500 });
  await server.kill9();
  await server.restart();
  assert.deepEqual(await client.get(`${project.path}/snapshots`), [snapshot]);
  await restore(project, snapshot);
  await server.kill9();
  await server.restart();
  assert.equal((await client.get<NodeBody>(`${project.path}/nodes/${one.node_id}`)).x, 10);
});
