/** Projects with a damaged file, history or name are listed, keep their name, and do not prevent a start. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectFault } from '../support/raw-http.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
interface Listed {
  readonly project_id: string;
  readonly name: string;
  readonly path: string;
  readonly filename: string;
}
const listed = async (id: string) => (await client.get<Listed[]>('/v2/projects')).find(({ project_id }) => project_id === id);

test('a project whose file is damaged stays in the list, and its name taken', async () => {
  const project = await createProject(client, { name: 'damaged lab' });
  const { path, filename } = await client.get<Record<'path' | 'filename', string>>(project.path);
  await client.post(`${project.path}/close`, {}, 204);
  await writeFile(join(path, filename), '{"name": "dam');
  await server.restart();
  assert.equal((await listed(project.id))?.name, 'damaged lab');
  expectFault(await client.send('POST /v2/projects', { body: { name: 'damaged lab' } }), 409, /damaged lab/);
  expectFault(await client.send(`POST ${project.path}/open`), 409, /damaged/);
  await client.delete(project.path);
  await client.post('/v2/projects', { name: 'damaged lab' });
});

test('a folder in the place of a history is no failure of the server', async () => {
  const project = await createProject(client);
  await createNode(client, project);
  const { path } = await client.get<{ path: string }>(project.path);
  await client.post(`${project.path}/close`, {}, 204);
  const histories = (await readdir(path)).filter((name) => name.endsWith('.history'));
  assert.equal(histories.length, 1);
  for (const name of histories) {
    await rm(join(path, name));
    await mkdir(join(path, name));
  }
  await client.post(`${project.path}/open`);
  const history = await client.send(`GET ${project.path}/history`);
  assert.ok(history.status < 500, `${history.status} ${history.text()}`);
  await createNode(client, project);
  await client.delete(project.path);
});

test('a project name with half of a character is refused, and one of earlier versions is no reason to warn at a start', async () => {
  expectFault(await client.send('POST /v2/projects', { raw: '{"name": "half \\ud800"}' }), 400, /name/);
  const project = await createProject(client, { name: 'half' });
  const { path, filename } = await client.get<Record<'path' | 'filename', string>>(project.path);
  await client.post(`${project.path}/close`, {}, 204);
  const file = join(path, filename);
  await writeFile(file, (await readFile(file, 'utf8')).replace('"half"', '"half \\ud800"'));
  const before = server.log().length;
  await server.restart();
  const warnings = server
    .log()
    .slice(before)
    .split('\n')
    .filter((line) => /"level":[456]0/.test(line));
  assert.deepEqual(warnings, []);
  assert.equal((await listed(project.id))?.project_id, project.id);
  await client.delete(project.path);
});
