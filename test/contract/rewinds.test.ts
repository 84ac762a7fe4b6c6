/** Rewinds: the present is kept before, the history continues, and undo and redo lead to and fro, with the memory of what runs. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { sizeOfCopy } from '../../src/lib/folder-size.ts';
import type { History, Undone } from '../../src/schema/history.ts';
import type { NodeProbeAnswer } from '../../src/schema/pc-probe.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { expectFault } from '../support/raw-http.ts';
import { openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();

const take = (project: ProjectHandle, body: object) => client.post<Snapshot>(`${project.path}/snapshots`, body);
const restore = (project: ProjectHandle, { snapshot_id }: Snapshot, body = {}) =>
  client.post(`${project.path}/snapshots/${snapshot_id}/restore`, body);
const undo = (project: ProjectHandle) => client.post<Undone>(`${project.path}/undo`, {}, 200);
const redo = (project: ProjectHandle) => client.post<Undone>(`${project.path}/redo`, {}, 200);
const historyOf = (project: ProjectHandle) => client.get<History>(`${project.path}/history`);
const folderOf = async (project: ProjectHandle) => (await client.get<{ path: string }>(project.path)).path;
const keptOf = async (project: ProjectHandle) =>
  (await readdir(join(await folderOf(project), '.kept-presents')).catch((): string[] => [])).length;
const nameOf = async (path: string) => (await client.get<NodeBody>(path)).name;
const lists = ['nodes', 'links', 'drawings'] as const;
const read = ({ path }: ProjectHandle) => Promise.all(lists.map((list) => client.get<object[]>(`${path}/${list}`)));

/** Two PCs with a link and a file each. */
async function withLab() {
  const project = await createProject(client, { auto_close: false });
  const startup_script = 'ip 10.0.0.1/24\n';
  const one = await createNode(client, project, 'vpcs', { name: 'one', properties: { startup_script } });
  const two = await createNode(client, project, 'vpcs', { name: 'two', properties: { startup_script: 'ip 10.0.0.2/24\n' } });
  await client.post(`${project.path}/links`, { nodes: [end(one), end(two)] });
  const notes = join(String(two.node_directory), 'notes.txt');
  await mkdir(join(notes, '..'), { recursive: true });
  await writeFile(notes, 'early');
  return { project, one, two, notes, onePath: `${project.path}/nodes/${one.node_id}` };
}

test('one undo returns to the present that was rewound, with its history, its files and its memory', async () => {
  const { project, one, two, notes, onePath } = await withLab();
  const reaches = async (to: string) => {
    const probe = { type: 'ping', to, count: 1, timeout_ms: 500 };
    const answer = await client.send(`POST ${project.path}/nodes/${two.node_id}/probe`, { body: probe });
    return answer.status === 200 && (answer.json() as NodeProbeAnswer).received === 1;
  };
  const hasAddress = (last: number) => waitFor(() => reaches(`10.0.0.${last}`), { what: `10.0.0.${last}` });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  await hasAddress(1);
  const warm = await take(project, { name: 'warm', memory: true });
  // The address is in the memory of the PC alone.
  const console = await openTelnet((await client.get<NodeBody>(onePath)).console as number);
  console.send('ip 10.0.0.77/24\r\n');
  await hasAddress(77);
  console.close();
  const [link] = await client.get<{ link_id: string }[]>(`${project.path}/links`);
  const steps = [
    { at: 0, filters: {} },
    { at: 300, filters: { delay: [4] } },
  ];
  await client.put(`${project.path}/links/${link?.link_id}/schedule`, { steps, duration: 600 });
  await client.put(onePath, { name: 'renamed', x: 77 });
  const third = await createNode(client, project, 'vpcs', { name: 'third' });
  await writeFile(notes, 'late');
  await client.post(`${project.path}/drawings`, { svg: '<svg/>' });
  const present = await read(project);
  const before = await historyOf(project);
  const headers = { 'x-patchbay-client': 'Ann' };
  const socket = await openWebSocket(`${server.url}${project.path}/notifications/ws`);
  const restored = await client.send(`POST ${project.path}/snapshots/${warm.snapshot_id}/restore`, { body: {}, headers });
  assert.equal(restored.status, 201);
  assert.deepEqual([await nameOf(onePath), await readFile(notes, 'utf8')], ['one', 'early']);
  await hasAddress(1);

  const after = await historyOf(project);
  const [rewound, ...rest] = after.entries;
  assert.deepEqual(rest, before.entries);
  assert.deepEqual(
    [rewound?.action, rewound?.name, rewound?.by, rewound?.id, rewound?.step, rewound?.inverts],
    ['project.rewound', 'warm', 'Ann', project.id, after.undo, null],
  );
  assert.deepEqual(after.undoable, [rewound?.step, ...before.undoable]);
  assert.deepEqual(
    (await client.get<Snapshot[]>(`${project.path}/snapshots`)).map(({ name }) => name),
    ['warm'],
  );

  const undone = await undo(project);
  assert.deepEqual([undone.step, undone.undo, undone.redo], [rewound?.step, before.undo, undone.changes[0]?.step]);
  assert.deepEqual(await read(project), present);
  assert.equal(await readFile(notes, 'utf8'), 'late');
  await hasAddress(77);
  const restores = () => socket.messages.filter((message) => String(message).includes('"snapshot.restored"')).length;
  await waitFor(() => restores() === 2, { what: 'the notice of the second rewind' });
  socket.close();

  // Steps before the rewind can be undone, and then all redone.
  await undo(project);
  await undo(project);
  assert.equal((await client.send(`GET ${project.path}/nodes/${third.node_id}`)).status, 404);
  await undo(project);
  assert.equal(await nameOf(onePath), 'one');
  // The schedule began later than its step says, as it continues after the rewind.
  await undo(project);
  for (let step = 0; step < 4; step++) await redo(project);
  assert.equal((await client.get<NodeBody[]>(`${project.path}/nodes`)).length, 3);
  const redone = await redo(project);
  assert.equal(redone.redo, null);
  assert.equal(await nameOf(onePath), one.name);
  await hasAddress(1);
  await undo(project);
  await hasAddress(77);
  assert.equal((await client.send(`GET ${project.path}/nodes/${third.node_id}`)).status, 200);
  await client.delete(project.path);
});

test('an ordinary restore is undone likewise, after the server was killed and the project closed', async () => {
  const { project, two, notes, onePath } = await withLab();
  const kept = await take(project, { name: 'kept' });
  await client.put(onePath, { name: 'renamed' });
  await writeFile(notes, 'late');
  // Files of a deleted node are in no snapshot: they go with the present in which the deletion can be undone.
  const gone = await createNode(client, project, 'vpcs', { name: 'gone' });
  const file = join(String(gone.node_directory), 'mine.txt');
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, 'mine');
  await client.delete(`${project.path}/nodes/${gone.node_id}`);
  await restore(project, kept);
  await client.delete(`${project.path}/nodes/${two.node_id}`);
  await server.kill9();
  await server.restart();
  await client.post(`${project.path}/close`, {}, 204);
  await client.post(`${project.path}/open`);
  assert.equal(await nameOf(onePath), 'one');
  await undo(project);
  await undo(project);
  assert.deepEqual([await nameOf(onePath), await readFile(notes, 'utf8')], ['renamed', 'late']);
  await undo(project);
  assert.equal(await readFile(file, 'utf8'), 'mine');
  await client.delete(project.path);
});

test('the last three presents are kept; what is older cannot be undone', async () => {
  const { project, onePath } = await withLab();
  const kept = await take(project, { name: 'kept' });
  for (const x of [1, 2, 3, 4]) {
    await client.put(onePath, { x });
    await restore(project, kept);
  }
  assert.equal(await keptOf(project), 3);
  for (const x of [4, 3, 2]) {
    await undo(project);
    assert.equal((await client.get<NodeBody>(onePath)).x, x);
    await undo(project);
  }
  expectFault(await client.send(`POST ${project.path}/undo`, { body: {} }), 409, /nothing to undo/);
  assert.deepEqual((await historyOf(project)).undoable, []);
  // A change leaves nothing to redo, and so nothing for which a present is needed.
  await client.put(onePath, { x: 9 });
  await restore(project, kept);
  assert.equal(await keptOf(project), 1);
  await client.delete(project.path);
});

test('without room for the present nothing is restored, unless it is given up', async (t) => {
  const { project, two, onePath } = await withLab();
  const folder = await folderOf(project);
  if ((await sizeOfCopy(join(folder, 'project-files'), folder)) === 0) return t.skip('copies share their blocks here');
  const kept = await take(project, { name: 'kept' });
  const disk = join(String(two.node_directory), 'disk.img');
  await writeFile(disk, '');
  await truncate(disk, 2 ** 43);
  await client.put(onePath, { name: 'renamed' });
  const before = await historyOf(project);
  const refused = await client.send(`POST ${project.path}/snapshots/${kept.snapshot_id}/restore`, { body: {} });
  expectFault(refused, 507, /Nothing was restored: there is no room to keep the present/);
  assert.equal(await nameOf(onePath), 'renamed');
  assert.deepEqual(await historyOf(project), before);
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith('.')),
    [],
  );
  await restore(project, kept, { keep_present: false });
  assert.equal(await nameOf(onePath), 'one');
  expectFault(await client.send(`POST ${project.path}/undo`, { body: {} }), 409, /nothing to undo/);
  assert.equal((await historyOf(project)).entries[0]?.action, 'project.rewound');
  await client.delete(project.path);
});

test('a rewind to an empty project is undone with the memory of what ran, also by a server that was started since', async () => {
  const project = await createProject(client, { auto_close: false });
  const empty = await take(project, { name: 'empty' });
  const pc = await createNode(client, project, 'vpcs');
  await client.post(`${project.path}/nodes/${pc.node_id}/start`, {}, 200);
  await restore(project, empty);
  assert.deepEqual(await client.get(`${project.path}/nodes`), []);
  // A compute does not know a project without nodes.
  await server.restart();
  await undo(project);
  assert.equal((await client.get<NodeBody>(`${project.path}/nodes/${pc.node_id}`)).status, 'started');
  await client.post(`${project.path}/close`, {}, 204);
});

test('a rewind among several steps is undone by itself', async () => {
  const { project, onePath } = await withLab();
  const kept = await take(project, { name: 'kept' });
  const [first] = (await historyOf(project)).undoable;
  await client.put(onePath, { x: 1 });
  await restore(project, kept);
  await client.put(onePath, { x: 2 });
  const refused = await client.send(`POST ${project.path}/undo`, { body: { until: first } });
  expectFault(refused, 409, /the project was rewound in it/);
  assert.equal((await client.get<NodeBody>(onePath)).x, 2);
  await client.delete(project.path);
});
