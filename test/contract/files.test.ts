/** Files of projects and nodes: read and written byte for byte, of any size, and only those of the project. */
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, freshName, type ProjectHandle, withServer } from '../support/with-server.ts';

const bench = await withServer();
let remote: RunningServer;
const awayId = randomUUID();

before(async () => {
  remote = await startServer({ config: { Qemu: { acceleration: 'off' } } });
  const address = { protocol: 'http', host: '127.0.0.1', port: remote.port };
  await bench.client.post('/v2/computes', { compute_id: awayId, name: freshName('away'), ...address });
});
after(() => remote?.stop());

/** Above the limit of parsed bodies, and not text. */
const large = Buffer.alloc(9 * 1024 * 1024, Uint8Array.from([0, 255, 10, 13, 128, 7, 9]));
const folderOf = (project: ProjectHandle) => join(bench.server.dataDir, 'projects', project.id);
const sum = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function write(path: string, raw: string | Uint8Array): Promise<void> {
  const reply = expectStatus(await bench.client.send(`POST ${path}`, { raw }), 201);
  assert.equal(reply.bytes.length, 0);
}
const read = async (path: string) => expectStatus(await bench.client.send(`GET ${path}`), 200);

describe('files of a project', () => {
  test('are read as they were written, with type, length and time', async () => {
    const project = await createProject(bench.client);
    const files = `${project.path}/files`;
    const contents: [string, string | Uint8Array, string][] = [
      ['README.txt', 'what this is\n', 'text/plain'],
      ['with space & ümlaut.png', Uint8Array.of(1, 2, 3), 'image/png'],
      ['.hidden', 'x', 'application/octet-stream'],
      ['in/a/folder/of.json', '{"not": json', 'application/json'],
      ['empty.bin', '', 'application/octet-stream'],
      ['large.bin', large, 'application/octet-stream'],
    ];
    for (const [name, content, type] of contents) {
      const path = `${files}/${name.split('/').map(encodeURIComponent).join('/')}`;
      await write(path, content);
      const reply = await read(path);
      assert.equal(sum(reply.bytes), sum(Buffer.from(content)), name);
      assert.equal(reply.headers['content-type'], type);
      assert.equal(reply.headers['content-length'], String(Buffer.byteLength(content)));
      assert.ok(Date.parse(String(reply.headers['last-modified'])) > 0);
    }
    await write(`${files}/README.txt`, 'shorter');
    assert.equal((await read(`${files}/README.txt`)).text(), 'shorter');
    assert.equal(await readFile(join(folderOf(project), 'README.txt'), 'utf8'), 'shorter');
  });

  test('are refused outside the folder, and for a missing folder', async () => {
    const project = await createProject(bench.client);
    const files = `${project.path}/files`;
    await symlink('/etc', join(folderOf(project), 'etc'));
    for (const path of ['..%2fx', '%2e%2e/x', 'a/%2e%2e/%2e%2e/x', 'etc/passwd', 'etc%2Fpasswd', 'a%00b', '..']) {
      for (const method of ['GET', 'POST']) {
        const reply = await bench.client.send(`${method} ${files}/${path}`, method === 'POST' ? { raw: 'x' } : {});
        // A path of nothing but dots is resolved before it is looked at: there is nothing at that address.
        if (path !== '..') expectFault(reply, 403);
        else assert.ok([403, 404, 405].includes(reply.status));
      }
    }
    expectFault(await bench.client.send(`GET ${files}/none.txt`), 404);
    await mkdir(join(folderOf(project), 'folder'));
    expectFault(await bench.client.send(`GET ${files}/folder`), 403);
    expectFault(await bench.client.send(`POST ${files}/folder`, { raw: 'x' }), 403);
  });

  test('the project itself and its log can be read, and not be written', async () => {
    const project = await createProject(bench.client, { name: 'kept' });
    const files = `${project.path}/files`;
    await symlink('.', join(folderOf(project), 'here'));
    assert.equal((await read(`${files}/kept.gns3`)).json().name, 'kept');
    for (const name of ['kept.gns3', 'kept.gns3.log', 'here/kept.gns3.log', 'other.gns3'])
      expectFault(await bench.client.send(`POST ${files}/${name}`, { raw: '{}' }), 403);
    await write(`${files}/below/copy.gns3`, '{}');
  });

  test('an upload that breaks off changes nothing', async () => {
    const project = await createProject(bench.client);
    await write(`${project.path}/files/kept.txt`, 'old');
    const { hostname, port } = new URL(bench.server.url);
    const path = `${project.path}/files/kept.txt`;
    const outgoing = request({ hostname, port, path, method: 'POST', headers: { 'content-length': '1000000' } });
    outgoing.on('error', () => undefined);
    outgoing.write('new');
    const growing = async () => (await readdir(folderOf(project))).some((name) => name.endsWith('.tmp') && name.startsWith('.'));
    await waitFor(growing, { what: 'the upload' });
    outgoing.destroy();
    await waitFor(async () => !(await growing()), { what: 'the end of the upload' });
    assert.equal((await read(path)).text(), 'old');
  });

  test('a closed project, and an unknown one', async () => {
    const project = await createProject(bench.client);
    await write(`${project.path}/files/a.txt`, 'a');
    await bench.client.post(`${project.path}/close`, {}, 204);
    expectFault(await bench.client.send(`GET ${project.path}/files/a.txt`), 403, /not opened/);
    expectFault(await bench.client.send(`POST ${project.path}/files/a.txt`, { raw: 'b' }), 403, /not opened/);
    expectFault(await bench.client.send(`GET /v2/projects/${randomUUID()}/files/a.txt`), 404);
  });
});

describe('files of a node', () => {
  for (const [where, compute, server] of [
    ['here', () => 'local', () => bench.server],
    ['on a remote compute', () => awayId, () => remote],
  ] as const) {
    test(`${where}: read and written in its folder on its compute`, async () => {
      const project = await createProject(bench.client);
      const node = await createNode(bench.client, project, 'vpcs', {
        compute_id: compute(),
        properties: { startup_script: 'echo hello\n' },
      });
      const files = `${project.path}/nodes/${node.node_id}/files`;
      const script = await read(`${files}/startup.vpc`);
      assert.match(script.text(), /echo hello/);
      assert.equal(script.headers['content-type'], 'application/octet-stream');
      await write(`${files}/startup.vpc`, 'echo other\n');
      assert.equal((await read(`${files}/startup.vpc`)).text(), 'echo other\n');
      // A compute takes the script on creation, as in GNS3; later the client changes the file.
      const properties = { startup_script: 'echo third\n' };
      expectFault(
        await bench.client.send(`PUT ${project.path}/nodes/${node.node_id}`, { body: { properties } }),
        400,
        /startup_script/,
      );
      assert.equal((await read(`${files}/startup.vpc`)).text(), 'echo other\n');
      await write(`${files}/in%5ca/large.bin`, large);
      assert.equal(sum((await read(`${files}/in/a/large.bin`)).bytes), sum(large));
      const folder = join(server().dataDir, 'projects', project.id, 'project-files', 'vpcs', node.node_id);
      assert.equal(sum(await readFile(join(folder, 'in/a/large.bin'))), sum(large));
      for (const method of ['GET', 'DELETE'])
        for (const path of ['none.txt', 'no/such.txt', 'startup.vpc/x'])
          expectFault(await bench.client.send(`${method} ${files}/${path}`), 404);
      await bench.client.delete(`${files}/in/a/large.bin`);
      expectFault(await bench.client.send(`GET ${files}/in/a/large.bin`), 404);
      expectFault(await bench.client.send(`DELETE ${files}/in/a`), 403, /folder/);
      assert.deepEqual(await readdir(join(folder, 'in')), ['a']);
      await symlink('/etc', join(folder, 'etc'));
      await writeFile(join(server().dataDir, 'secret'), 'secret');
      for (const way of ['%2e%2e/x', '..%2f..%2fx', '..%5c..%5cx', '.hidden', 'a/../../x', 'etc/passwd', 'a%00b'])
        for (const method of ['GET', 'POST', 'DELETE']) {
          const reply = await bench.client.send(`${method} ${files}/${way}`, method === 'POST' ? { raw: 'x' } : {});
          expectFault(reply, 403);
        }
    });
  }

  test('unknown nodes and closed projects', async () => {
    const project = await createProject(bench.client);
    const node = await createNode(bench.client, project);
    expectFault(await bench.client.send(`GET ${project.path}/nodes/${randomUUID()}/files/a.txt`), 404);
    await bench.client.post(`${project.path}/close`, {}, 204);
    expectFault(await bench.client.send(`GET ${project.path}/nodes/${node.node_id}/files/a.txt`), 403, /not opened/);
  });
});
