/** PCs keep their state, which their scripts do not give them, through forks, rewinds, closings and ends of the server, and for one start only. */
import assert from 'node:assert/strict';
import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { NodeProbeAnswer } from '../../src/schema/pc-probe.ts';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { expectFault } from '../support/raw-http.ts';
import { openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const project = await createProject(client, { auto_close: false });
const { path: folder } = await client.get<{ path: string }>(project.path);
const script = (last: number) => ({ name: `PC${last}`, properties: { startup_script: `ip 10.0.0.${last}/24\n` } });
const one = await createNode(client, project, 'vpcs', script(1));
const two = await createNode(client, project, 'vpcs', script(2));
await client.post(`${project.path}/links`, { nodes: [end(one), end(two)] });

const nodeOf = async (path: string, name: string) =>
  (await client.get<NodeBody[]>(`${path}/nodes`)).find((node) => node.name === name) ?? assert.fail(name);
/** Whether PC2 of a project reaches an address. */
const reaches = async (path: string, to: string) => {
  const { node_id } = await nodeOf(path, 'PC2');
  const probe = { type: 'ping', to, count: 1, timeout_ms: 500 };
  const answer = await client.send(`POST ${path}/nodes/${node_id}/probe`, { body: probe });
  return answer.status === 200 && (answer.json() as NodeProbeAnswer).received === 1;
};
/** Settles when PC1 of a project has the address that was typed at its console, or else that of its script. */
const hasTyped = (path = project.path, typed = true) =>
  waitFor(() => reaches(path, typed ? '10.0.0.77' : '10.0.0.1'), {
    what: typed ? 'the address typed' : 'the address of the script',
  });
const statesOf = (project_path: string) => join(project_path, 'project-files/saved-states');
const isMissing = (path: string) => assert.rejects(access(path), { code: 'ENOENT' });
const fork = async (path: string, count = 1) => {
  const forks = await client.post<Project[]>(path, { count });
  return forks.map((made) => ({ ...made, api: `/v2/projects/${made.project_id}` }));
};

await client.post(`${project.path}/nodes/start`, {}, 204);
await hasTyped(project.path, false);
const console1 = await openTelnet((await nodeOf(project.path, 'PC1')).console as number);
console1.send('ip 10.0.0.77/24\r\n');
await hasTyped();
console1.close();

test('a fork continues; the next start begins with the script', async () => {
  const [only] = await fork(`${project.path}/fork`);
  assert.ok(only);
  await hasTyped(only.api);
  await waitFor(
    () =>
      isMissing(statesOf(only.path ?? '')).then(
        () => true,
        () => false,
      ),
    { what: 'no state that is left' },
  );
  await client.post(`${only.api}/nodes/stop`, {}, 204);
  await client.post(`${only.api}/nodes/start`, {}, 204);
  await hasTyped(only.api, false);
  for (const { api } of await fork(`${project.path}/fork`, 2)) {
    await hasTyped(api);
    await client.delete(api);
  }
  await client.delete(only.api);
});

test('a node that is stopped loses its state only; a duplicate of the project has none', async () => {
  await client.put(project.path, { on_close: 'freeze' });
  await client.post(`${project.path}/close`, {}, 204);
  assert.equal((await readFile(statesOf(folder), 'utf8')).trimEnd().split('\n').length, 2);
  const copy = await client.post<Project>(`${project.path}/duplicate`, { name: 'copy' });
  await isMissing(statesOf(copy.path ?? ''));
  await client.delete(`/v2/projects/${copy.project_id}`);
  await client.post(`${project.path}/open`, {}, 201);
  await hasTyped();
});

test('a server that ends, and one that is killed while the project is closed, lose nothing', async () => {
  await client.post(`${project.path}/close`, {}, 204);
  await server.kill9();
  await server.restart();
  await client.post(`${project.path}/open`, {}, 201);
  await hasTyped();
  await waitFor(
    () =>
      isMissing(statesOf(folder)).then(
        () => true,
        () => false,
      ),
    { what: 'no state that is left' },
  );
  await client.put(project.path, { on_close: 'stop' });
});

test('a rewind continues, also from files of version 0.2; a damaged state is refused, and changes nothing', async () => {
  const { snapshot_id } = await client.post<Snapshot>(`${project.path}/snapshots`, { name: 'warm', memory: true });
  const list = () => client.get<Snapshot[]>(`${project.path}/snapshots`);
  await waitFor(async () => (await list())[0]?.memory?.status === 'ready', { what: 'the memory' });
  const rewind = () => client.send(`POST ${project.path}/snapshots/${snapshot_id}/restore`, { body: {} });
  const memory = join(folder, '.memory', snapshot_id);
  const states = await readFile(join(memory, 'saved-states'), 'utf8');
  const stopped = async () => {
    await client.post(`${project.path}/nodes/stop`, {}, 204);
    await client.post(`${project.path}/nodes/start`, {}, 204);
    await hasTyped(project.path, false);
  };
  await stopped();
  assert.equal((await rewind()).status, 201);
  await hasTyped();
  for (const damaged of [
    states.slice(0, -9),
    'x\n',
    states.replaceAll('"history"', '"histories"'),
    states.replace(' vpcs ', ' qemu '),
  ]) {
    await writeFile(join(memory, 'saved-states'), damaged);
    expectFault(await rewind(), 409, /memory/);
    await hasTyped();
  }
  await rm(join(memory, 'saved-states'));
  for (const line of states.trimEnd().split('\n')) {
    const [id = '', , ...state] = line.split(' ');
    const place = join(memory, 'project-files/vpcs', id, 'saved-memory');
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'pc.json'), state.join(' '));
  }
  await stopped();
  assert.equal((await rewind()).status, 201);
  await hasTyped();
  await waitFor(async () => !(await readdir(join(folder, 'project-files/vpcs', one.node_id))).includes('saved-memory'), {
    what: 'no file that is left',
  });
});
