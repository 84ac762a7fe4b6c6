/**
 * The server is killed while it restores, and while the restore is undone: the project is as before or as restored, as a whole, the present
 * of before is kept, and nothing lies around.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { keptPresentsFolder } from '../../src/schema/folders.ts';
import type { History } from '../../src/schema/history.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, type NodeBody, withServer } from '../support/with-server.ts';
import { makeChance } from './random.ts';

const { server, client } = await withServer();
const chance = makeChance();
console.log(`seed ${chance.seed}`);
/** Number of kills as in `kill.test.ts`. */
const kills = Number(process.env.PATCHBAY_TEST_KILLS) || 10;
/** Enough that moving and copying takes some milliseconds. */
const fileCount = 60;

test('a machine of before does not run on at another compute when the server dies in a rewind', { timeout: 240_000 }, async (t) => {
  const [user, password] = ['teacher', 'correct-horse'];
  const away = await startServer({ config: { Server: { auth: true, user, password } } });
  t.after(() => away.stop());
  const compute_id = randomUUID();
  const address = { protocol: 'http', host: '127.0.0.1', port: away.port, user, password };
  await client.post('/v2/computes', { compute_id, name: 'away', ...address });
  const project = await createProject(client, { auto_close: false });
  const pc = await createNode(client, project, 'vpcs', { compute_id });
  const snapshot = await client.post<Snapshot>(`${project.path}/snapshots`, { name: 'stopped' });
  const node = `${project.path}/nodes/${pc.node_id}`;
  const statusOf = async () => (await client.get<NodeBody>(node)).status;
  await client.post(`${node}/start`, {}, 200);
  // The stop of its nodes is not answered.
  process.kill(away.pid, 'SIGSTOP');
  try {
    const restoring = client
      .send(`POST ${project.path}/snapshots/${snapshot.snapshot_id}/restore`, { body: { keep_present: false } })
      .catch(() => undefined);
    const noted = () => readFile(join(server.dataDir, 'state', 'restores.log'), 'utf8').catch(() => '');
    await waitFor(async () => (await noted()).includes('"committed"'), { what: 'a rewind that is committed', everyMs: 10 });
    await server.kill9();
    await restoring;
  } finally {
    process.kill(away.pid, 'SIGCONT');
  }
  await server.restart();
  await waitFor(async () => (await client.get<{ connected: boolean }>(`/v2/computes/${compute_id}`)).connected, {
    what: 'the compute',
  });
  await waitFor(async () => (await statusOf()) === 'stopped', { what: 'a node as it is in the snapshot' });
  const onCompute = new RawClient(away.url, { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` });
  t.after(() => onCompute.close());
  const there = async () => (await onCompute.get<NodeBody>(`${project.computePath}/vpcs/nodes/${pc.node_id}`)).status;
  assert.equal(await there(), 'stopped');
  await client.delete(project.path);
  await client.delete(`/v2/computes/${compute_id}`);
});

test(`${kills} kills during restores, and as many during their undo`, { timeout: 600_000 }, async () => {
  const project = await createProject(client, { auto_close: false });
  const nodes = await Promise.all([1, 2, 3].map(() => createNode(client, project)));
  const { path: folder } = await client.get<{ path: string }>(project.path);
  const write = async (content: string) => {
    const [first] = nodes;
    const own = join(folder, 'project-files/vpcs', String(first?.node_id));
    await mkdir(own, { recursive: true });
    await Promise.all(Array.from({ length: fileCount }, (_, index) => writeFile(join(own, `f${index}`), content)));
    await Promise.all(nodes.map((node) => client.put(`${project.path}/nodes/${node.node_id}`, { x: content.length })));
  };
  /** State of the project, and contents of its files; one word each when all agree. */
  const read = async (asker: RawClient) => {
    const positions = (await asker.get<NodeBody[]>(`${project.path}/nodes`)).map(({ x }) => x);
    const own = join(folder, 'project-files/vpcs', String(nodes[0]?.node_id));
    const names = (await readdir(own)).filter((name) => /^f\d+$/.test(name));
    assert.equal(names.length, fileCount);
    const contents = await Promise.all(names.map((name) => readFile(join(own, name), 'utf8')));
    return { positions: [...new Set(positions)].join(), contents: [...new Set(contents)].join() };
  };
  await write('kept');
  const snapshot = await client.post<Snapshot>(`${project.path}/snapshots`, { name: 'kept' });
  const states = new Set<string>();
  /** Kills the server in the midst of a request. @returns the files' content, and whether the request was answered with success */
  const killedDuring = async (path: string, what: string) => {
    const answered = client.send(`POST ${project.path}${path}`, { body: {} }).then(
      ({ status }) => status < 300,
      () => false,
    );
    await pass(chance.between(1, 900));
    await server.kill9();
    const isAnswered = await answered;
    await server.restart();
    await waitFor(async () => (await client.get(project.path)).status === 'opened', { what: 'the project, opened again' });
    const { positions, contents } = await read(client);
    assert.equal(positions, String(contents.length), `${what}: ${positions} and ${contents}, seed ${chance.seed}`);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.startsWith('.') && name !== keptPresentsFolder),
      [],
    );
    assert.deepEqual(await client.get(`${project.path}/snapshots`), [snapshot]);
    states.add(`${contents} ${path === '/undo' ? 'by undo' : ''}`);
    return { contents, isAnswered };
  };
  for (let round = 0; round < kills; round++) {
    await write('changed');
    const before = await client.get<History>(`${project.path}/history`);
    const restored = await killedDuring(`/snapshots/${snapshot.snapshot_id}/restore`, `restore ${round}`);
    if (restored.isAnswered) assert.equal(restored.contents, 'kept');
    const after = await client.get<History>(`${project.path}/history`);
    if (restored.contents === 'changed') {
      assert.deepEqual(after, before);
      continue;
    }
    assert.deepEqual([after.entries[0]?.action, after.entries.slice(1)], ['project.rewound', before.entries.slice(0, 99)]);
    const undone = await killedDuring('/undo', `undo ${round}`);
    if (undone.isAnswered) assert.equal(undone.contents, 'changed');
    if (undone.contents === 'kept') await client.post(`${project.path}/undo`, {}, 200);
    assert.equal((await read(client)).contents, 'changed');
    const { undo } = await client.get<History>(`${project.path}/history`);
    assert.equal(undo, before.undo, 'the step before the restore');
  }
  console.log(`seen after kills: ${[...states].join(', ')}`);
});
