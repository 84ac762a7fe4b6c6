/** Routes that GNS3 3.1 has and 3.0 has not: lists of a node's files, capture files, and deletion of symbols. */
import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();

interface FileOfNode {
  readonly path: string;
  readonly size: number;
  readonly created_at: string;
  readonly modified_at: string;
  readonly extension: string;
}

test('the files of a node are listed, none that is hidden or outside of its folder, and each listed one can be read', async () => {
  const project = await createProject(client);
  const node = await createNode(client, project, 'vpcs', { properties: { startup_script: 'set pcname one\n' } });
  const nodes = `/v3/projects/${project.id}/nodes`;
  const folder = join(server.dataDir, 'projects', project.id, 'project-files', 'vpcs', node.node_id);
  await mkdir(join(folder, 'deep'), { recursive: true });
  await writeFile(join(folder, 'deep', 'note.tar.gz'), 'twelve bytes');
  await writeFile(join(folder, '.hidden'), 'x');
  await symlink('/etc', join(folder, 'etc'));
  await symlink('/etc/passwd', join(folder, 'passwd'));
  const files = await client.get<FileOfNode[]>(`${nodes}/${node.node_id}/files`);
  assert.deepEqual(
    files.map(({ path, size, extension }) => [path, size, extension]),
    [
      ['deep/note.tar.gz', 12, 'gz'],
      ['startup.vpc', 15, 'vpc'],
    ],
  );
  for (const { path, created_at, modified_at } of files) {
    assert.match(`${created_at} ${modified_at}`, /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6} ?){2}$/);
    expectStatus(await client.send(`GET ${nodes}/${node.node_id}/files/${path}`), 200);
  }
  const hub = await createNode(client, project, 'ethernet_hub');
  assert.deepEqual(await client.get(`${nodes}/${hub.node_id}/files`), []);
  expectStatus(await client.send(`GET ${nodes}/${project.id}/files`), 404);
  const compute = `GET ${project.computePath}/node_files`;
  for (const place of [`nothing/${node.node_id}`, 'vpcs/..', 'constructor/x', `vpcs/${encodeURIComponent('../qemu')}`])
    expectStatus(await client.send(`${compute}/${place}`), 404);
});

test('the capture file of a link is sent while it is written', async () => {
  const project = await createProject(client);
  const [one, other] = await Promise.all([1, 2].map(() => createNode(client, project, 'ethernet_hub')));
  assert.ok(one && other);
  const links = `/v3/projects/${project.id}/links`;
  const { link_id } = await client.post<{ link_id: string }>(links, { nodes: [end(one), end(other)] });
  const capture = `${links}/${link_id}/capture`;
  expectStatus(await client.send(`GET ${capture}/file`), 409);
  await client.post(`${capture}/start`, { capture_file_name: 'mine.pcap' });
  const reply = expectStatus(await client.send(`GET ${capture}/file`), 200);
  assert.equal(reply.headers['content-type'], 'application/vnd.tcpdump.pcap');
  assert.equal(reply.headers['content-disposition'], 'attachment; filename="mine.pcap"');
  assert.equal(reply.bytes.length, 24);
});

test('a symbol of a user is deleted, one that is built in or missing is not', async () => {
  const symbol = '/v3/symbols/mine.svg';
  const raw = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="9"/>';
  expectStatus(await client.send(`POST ${symbol}/raw`, { raw }), 204);
  assert.deepEqual(await client.get(`${symbol}/dimensions`), { width: 7, height: 9 });
  const outside = encodeURIComponent('../projects');
  for (const other of ['none.svg', ':/symbols/classic/computer.svg', outside, '.'])
    expectStatus(await client.send(`DELETE /v3/symbols/${other}`), 403);
  expectStatus(await client.send(`DELETE ${symbol}`), 204);
  const listed = await client.get<{ symbol_id: string }[]>('/v3/symbols');
  assert.ok(!listed.some(({ symbol_id }) => symbol_id === 'mine.svg'));
  expectStatus(await client.send(`DELETE ${symbol}`), 403);
});

test('a cloud names a host whose console is SSH', async () => {
  const project = await createProject(client);
  const remote_console_type = 'ssh';
  const node = await createNode(client, project, 'cloud', {
    properties: { remote_console_host: '192.0.2.7', remote_console_type },
  });
  const { properties } = await client.get<{ properties: object }>(`/v3/projects/${project.id}/nodes/${node.node_id}`);
  assert.equal((properties as typeof node.properties).remote_console_type, 'ssh');
  const template = { name: 'by ssh', template_type: 'cloud', remote_console_type };
  assert.equal((await client.post<Record<string, unknown>>('/v3/templates', template)).remote_console_type, 'ssh');
});
