/** Checkpoints: the server takes snapshots with memory on a schedule, within bounds, and never at the cost of a user's. */
import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CheckpointStatus, CheckpointsUpdated } from '../../src/schema/checkpoint.ts';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { expectFault } from '../support/raw-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, idleVm, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();

test('checkpoints are taken, bounded, skipped with a reason, and continue after kill -9', async (t) => {
  const project = await createProject(client, { auto_close: false });
  const at = `${project.path}/checkpoints`;
  const list = () => client.get<Snapshot[]>(`${project.path}/snapshots`);
  const describe = () => client.get<CheckpointStatus>(at);
  const { path: folder } = await client.get<{ path: string; filename: string }>(project.path);
  const vm = await createNode(client, project, 'qemu', { name: 'vm', properties: idleVm });
  let newest: Snapshot | undefined;

  await t.test('the setting is off by default and stands among the variables of the file', async () => {
    assert.equal('checkpoint_minutes' in (await client.get<Project>(project.path)), false);
    expectFault(await client.send(`POST ${at}`), 409, /No checkpoint of the project ".*" was taken: they are off/);
    for (const body of [{ checkpoint_minutes: -1 }, { checkpoint_minutes: '5' }, { checkpoint_bytes: 0 }])
      expectFault(await client.send(`PUT ${project.path}`, { body }), 400);
    assert.equal((await describe()).next_at, null);
    const set = await client.put<Project>(project.path, { checkpoint_minutes: 60 });
    assert.deepEqual([set.checkpoint_minutes, set.checkpoint_bytes], [60, 10 * 2 ** 30]);
    await waitFor(async () => (await describe()).next_at !== null, { what: 'a schedule' });
    await client.post(`${project.path}/close`, {}, 204);
    assert.equal((await describe()).next_at, null);
    const file = JSON.parse(await readFile(join(folder, `${set.name}.gns3`), 'utf8')) as Record<string, unknown>;
    assert.deepEqual(file.variables, [{ name: 'PATCHBAY_CHECKPOINTS', value: `60 ${10 * 2 ** 30}` }]);
    assert.equal(
      Object.keys(file).some((key) => key.startsWith('checkpoint')),
      false,
    );
    await client.post(`${project.path}/open`, {}, 201);
    assert.equal((await client.get<Project>(project.path)).checkpoint_minutes, 60);
  });

  await t.test('nothing is taken while no node runs, and listeners are notified of the reason', async () => {
    const socket = await openWebSocket(`${server.url}${project.path}/notifications/ws`);
    expectFault(await client.send(`POST ${at}`), 409, /no node runs/);
    const notice = String(await socket.next((message) => message.includes('"checkpoints.updated"')));
    const { event } = JSON.parse(notice) as { event: CheckpointsUpdated };
    assert.deepEqual([event.project_id, event.taken], [project.id, null]);
    assert.match(String(event.skipped?.reason), /no node runs/);
    assert.deepEqual((await describe()).skipped, event.skipped);
    socket.close();
  });

  await t.test('a checkpoint is a snapshot with memory, marked; its files are measured', async () => {
    await client.post(`${project.path}/nodes/${vm.node_id}/start`, {}, 200);
    await client.post(`${project.path}/snapshots`, { name: 'mine' });
    const first = await client.post<Snapshot>(at);
    assert.deepEqual([first.checkpoint, first.memory?.status, first.memory?.nodes], [true, 'ready', [vm.node_id]]);
    const mine = (await list()).find(({ name }) => name === 'mine');
    assert.ok(mine && !('checkpoint' in mine));
    const { bytes, sizes, skipped } = await describe();
    assert.equal(skipped, null);
    assert.deepEqual(
      sizes.map(({ snapshot_id }) => snapshot_id),
      (await list()).map(({ snapshot_id }) => snapshot_id),
    );
    assert.ok(bytes >= Number(first.memory?.bytes), `${bytes} bytes`);
    assert.equal(sizes.find(({ snapshot_id }) => snapshot_id === first.snapshot_id)?.bytes, bytes);
    newest = first;
  });

  await t.test('a paused lab in which nothing changed needs no further checkpoint', async () => {
    await client.post(`${project.path}/nodes/${vm.node_id}/suspend`, {}, 200);
    newest = await client.post<Snapshot>(at);
    expectFault(await client.send(`POST ${at}`), 409, /nothing has changed/);
    // A machine that stays paused is saved again where something else changed.
    await createNode(client, project);
    await client.post<Snapshot>(at);
    assert.equal((await client.get(`${project.path}/nodes/${vm.node_id}`)).status, 'suspended');
    await client.post(`${project.path}/nodes/${vm.node_id}/start`, {}, 200);
  });

  await t.test('a user who freezes or closes the project waits for the checkpoint, and is not refused', async () => {
    await client.put(project.path, { on_close: 'freeze' });
    const begin = async () => {
      const before = (await list()).length;
      const taken = client.send(`POST ${at}`);
      // The checkpoint is listed while its memory is being saved.
      await waitFor(async () => (await list()).length > before, { what: 'a checkpoint' });
      return { taken };
    };
    const { taken } = await begin();
    const frozen = await client.post<Snapshot>(`${project.path}/snapshots`, { name: 'frozen', memory: true });
    assert.equal((await taken).status, 201);
    await client.delete(`${project.path}/snapshots/${frozen.snapshot_id}`);
    const { taken: last } = await begin();
    await client.post(`${project.path}/close`, {}, 204);
    assert.equal((await last).status, 201);
    await client.post(`${project.path}/open`, {}, 201);
    await waitFor(async () => (await client.get(`${project.path}/nodes/${vm.node_id}`)).status === 'started', {
      what: 'the machine, continued',
    });
    await client.put(project.path, { on_close: 'stop' });
  });

  await t.test('the oldest go first, and never a snapshot of a user', async () => {
    newest = (await list()).findLast(({ checkpoint }) => checkpoint);
    const { sizes } = await describe();
    const size = sizes.find(({ snapshot_id }) => snapshot_id === newest?.snapshot_id)?.bytes ?? 0;
    await client.put(project.path, { checkpoint_bytes: Math.round(size * 1.5) });
    const names = async () => (await list()).map(({ name }) => name).sort();
    await waitFor(async () => (await names()).length === 2, { what: 'the bound, applied' });
    assert.deepEqual(await names(), [newest?.name, 'mine']);
    // A checkpoint that is kept is a snapshot of a user.
    const keepPath = `PUT ${project.path}/snapshots/${newest?.snapshot_id}`;
    for (const body of [{}, { checkpoint: true }, { name: 'x' }]) expectFault(await client.send(keepPath, { body }), 400);
    const kept = (await client.send(keepPath, { body: { checkpoint: false } })).json<Snapshot>();
    assert.deepEqual([kept.snapshot_id, kept.memory?.status, 'checkpoint' in kept], [newest?.snapshot_id, 'ready', false]);
    await client.put(project.path, { checkpoint_bytes: 1 });
    // A pass of the schedule: one that alone is too large.
    expectFault(await client.send(`POST ${at}`), 409, /one takes \d+ MiB, more than checkpoint_bytes allows/);
    assert.deepEqual(await names(), [newest?.name, 'mine']);
    await client.delete(`${project.path}/snapshots/${kept.snapshot_id}`);
    expectFault(await client.send(`POST ${at}`), 409, /one takes \d+ MiB/);
    assert.deepEqual(await names(), ['mine']);
    assert.deepEqual(await readdir(join(folder, '.memory')), []);
    await client.put(project.path, { checkpoint_bytes: 10 ** 10 });
  });

  await t.test('a server that starts after kill -9 removes what is half and takes the one that is due', async () => {
    const kept = await client.post<Snapshot>(at);
    // Entries are changed as if an hour had passed.
    await server.kill9();
    const index = join(folder, 'snapshots/snapshots.conf');
    const entries = JSON.parse(await readFile(index, 'utf8')) as Snapshot[];
    const aged = entries.map((entry) => ({ ...entry, created_at: entry.created_at - 3700 }));
    await writeFile(index, JSON.stringify(aged));
    await server.restart();
    await waitFor(async () => (await list()).filter(({ memory }) => memory?.status === 'ready').length === 2, {
      what: 'the checkpoint that is due',
    });
    assert.ok((await list()).some(({ snapshot_id }) => snapshot_id === kept.snapshot_id));
    await server.kill9();
    await rm(join(folder, '.memory', kept.snapshot_id), { recursive: true });
    await server.restart();
    await waitFor(async () => !(await list()).some(({ snapshot_id }) => snapshot_id === kept.snapshot_id), {
      what: 'the removal of the checkpoint without memory',
    });
    assert.ok((await list()).some(({ name }) => name === 'mine'));
  });

  await t.test('a rewind keeps the schedule, a fork has none, deleting the project ends it', async () => {
    const newest = (await list()).findLast(({ checkpoint }) => checkpoint) as Snapshot;
    await client.put(project.path, { checkpoint_minutes: 30 });
    const restored = await client.post<Project>(`${project.path}/snapshots/${newest.snapshot_id}/restore`);
    assert.equal(restored.checkpoint_minutes, 30);
    assert.ok((await describe()).next_at);
    const [fork] = await client.post<Project[]>(`${project.path}/snapshots/${newest.snapshot_id}/fork`);
    assert.equal(fork && 'checkpoint_minutes' in fork, false);
    await client.delete(`/v2/projects/${fork?.project_id}`);
    const taken = client.send(`POST ${at}`);
    await client.delete(project.path);
    assert.ok([201, 404, 409].includes((await taken).status));
    expectFault(await client.send(`POST ${at}`), 404);
  });
});
