/** The server never reveals secrets: passwords, and files that are not part of a project. */
import assert from 'node:assert/strict';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { expectStatus, RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const password = 'correct-horse-battery';

describe('a password', () => {
  const address = { protocol: 'http', host: '127.0.0.1', port: 1, user: 'teacher' };
  const refused: [string, string | object][] = [
    ['beside something unknown', { ...address, password, nonsense: 1 }],
    ['further down', { ...address, password: { password }, nonsense: { password: [password] } }],
    ['of the wrong type', { ...address, password: [password] }],
    ['in what is no JSON', `{"password":"${password}",}`],
    ['in what breaks off', `{"protocol":"http","password":"${password}`],
    ['without quotes', `{"password":${password}}`],
  ];
  for (const [what, body] of refused) {
    test(`${what} is not in the answer`, async () => {
      const raw = typeof body === 'string' ? body : JSON.stringify(body);
      const reply = expectStatus(await client.send('POST /v2/computes', { raw }), 400);
      assert.ok(!reply.text().includes(password.slice(0, 8)), reply.text());
      assert.ok(!server.log().includes(password));
    });
  }

  test('of a compute is in one file, which its owner alone may read, and in no project', async () => {
    const { compute_id } = await client.post<{ compute_id: string }>('/v2/computes', { ...address, name: 'silent', password });
    const file = join(server.dataDir, 'state', 'computes.json');
    assert.ok((await readFile(file, 'utf8')).includes(password));
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const project = await createProject(client);
    expectStatus(await client.send(`POST ${project.path}/nodes`, { body: { name: 'N', node_type: 'vpcs', compute_id } }), 409);
    await client.post(`${project.path}/close`, {}, 204);
    const { path, filename } = await client.get<{ path: string; filename: string }>(project.path);
    assert.ok(!(await readFile(join(path, filename), 'utf8')).includes(password));
    expectStatus(await client.send('POST /v2/debug', { body: {} }), 201);
    assert.ok(!(await readFile(join(server.dataDir, 'debug', 'controller.txt'), 'utf8')).includes(password));
    await client.delete(`/v2/computes/${compute_id}`);
    await client.delete(project.path);
  });
});

test('the routes of the compute ask for the same credentials', async () => {
  const other = await startServer({ config: { Server: { auth: true, user: 'teacher', password }, Qemu: { acceleration: 'off' } } });
  const stranger = new RawClient(other.url);
  const project = crypto.randomUUID();
  const lines = ['GET /v2/compute/projects', 'GET /v2/compute/capabilities', `DELETE /v2/compute/projects/${project}`];
  lines.push(
    `POST /v2/compute/projects/${project}/qemu/nodes`,
    'POST /v2/compute/qemu/images/a.img',
    'GET /v2/compute/notifications/ws',
  );
  for (const line of lines) expectStatus(await stranger.send(line), 401);
  stranger.close();
  await other.stop();
});

test('a file of settings for nodes is one of the folder for them, whatever path names it', async () => {
  const folder = join(server.dataDir, 'configs');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'own.vpc'), 'set pcname own\n');
  await writeFile(join(server.dataDir, 'secret.vpc'), 'set pcname secret\n');
  const project = await createProject(client);
  const scriptOf = async (base_script_file: string) => {
    const node = await createNode(client, project, 'vpcs', { properties: { base_script_file } });
    const path = `/v2/projects/${project.id}/nodes/${node.node_id}/files/startup.vpc`;
    return (await client.send(`GET ${path}`)).text();
  };
  assert.match(await scriptOf('own.vpc'), /pcname own/);
  assert.match(await scriptOf('/somewhere/else/own.vpc'), /pcname own/);
  for (const way of [join(server.dataDir, 'secret.vpc'), '../secret.vpc', '/etc/hosts']) {
    assert.doesNotMatch(await scriptOf(way), /secret|localhost/, way);
  }
  await client.delete(project.path);
});
