/** Guests see the state of their links: a machine at the prompt of iPXE, whose `ifstat` shows the state of its adapter. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { atPrompt, showsLink, type } from '../support/ipxe.ts';
import type { TelnetClient } from '../support/telnet.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, tinyVm, withServer } from '../support/with-server.ts';

interface ProjectBody {
  readonly project_id: string;
  readonly path: string;
  readonly variables: unknown;
  readonly replicate_link_state?: boolean;
}

const { server, client } = await withServer();
let project: ProjectHandle;
let vm: NodeBody;
let pc: NodeBody;
let link: string;
let console: TelnetClient;

const act = (node: NodeBody, verb: string) => client.post(`${project.path}/nodes/${node.node_id}/${verb}`, {}, 200);
const setProject = (fields: object) => client.put<ProjectBody>(project.path, fields);
const shows = (state: 'up' | 'down') => showsLink(console, state);

before(async () => {
  project = await createProject(client);
  vm = await createNode(client, project, 'qemu', { properties: tinyVm });
  pc = await createNode(client, project, 'vpcs');
  const made = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(vm), end(pc)] });
  link = `${project.path}/links/${made.link_id}`;
  await act(vm, 'start');
  console = await atPrompt(vm);
  await type(console, 'ifopen net0');
});

test('by default guests see a link that is there, whatever is at its other end', async () => {
  assert.equal('replicate_link_state' in (await client.get<ProjectBody>(project.path)), false);
  await shows('up');
});

test('with replicate_link_state they see that the node at the other end does not run, and a suspended link', async () => {
  assert.equal((await setProject({ replicate_link_state: true })).replicate_link_state, true);
  await shows('down');
  await act(pc, 'start');
  await shows('up');
  await client.put(link, { suspend: true }, 201);
  await shows('down');
  await client.put(link, { suspend: false }, 201);
  await shows('up');
});

test('they see the outages of a schedule', async () => {
  await client.put(`${link}/schedule`, { steps: [{ at: 0, suspend: true }] });
  await shows('down');
  await client.delete(`${link}/schedule`);
  await shows('up');
  await client.put(`${link}/schedule`, { steps: [{ at: 0, flap: { down: 10_000, up: 1e8 } }] });
  await shows('down');
  await shows('up');
});

test('a server that was killed shows them what happened while it was away', async () => {
  await server.kill9();
  await server.restart();
  assert.equal((await client.get<ProjectBody>(project.path)).replicate_link_state, true);
  console = await atPrompt(vm);
  await shows('up');
  await act(pc, 'stop');
  await shows('down');
  await act(pc, 'start');
  await shows('up');
  await client.delete(link);
  await shows('down');
});

test('the project file keeps the setting as a variable, which GNS3 keeps too', async () => {
  await act(vm, 'stop');
  await act(pc, 'stop');
  await client.post(`${project.path}/close`, {}, 204);
  const { path, variables } = await client.get<ProjectBody>(project.path);
  assert.equal(variables, null);
  const [name] = (await client.get<{ filename: string }[]>('/v2/projects')).map(({ filename }) => filename);
  const file = JSON.parse(await readFile(join(path, String(name)), 'utf8'));
  assert.deepEqual(file.variables, [{ name: 'PATCHBAY_REPLICATE_LINK_STATE', value: '1' }]);
  assert.equal('replicate_link_state' in file, false);
  const copy = await client.post<ProjectBody>(`${project.path}/duplicate`, { name: 'copy' });
  for (const id of [project.id, copy.project_id]) {
    const opened = await client.post<ProjectBody>(`/v2/projects/${id}/open`);
    assert.deepEqual([opened.replicate_link_state, opened.variables], [true, null]);
  }
  const off = await setProject({ replicate_link_state: false });
  assert.equal('replicate_link_state' in off, false);
});
