/** A greedy client takes connections, requests, uploads, files, the disk. Other clients are served as before. */
import assert from 'node:assert/strict';
import { readdir, statfs, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sizeOfCopy } from '../../../src/lib/folder-size.ts';
import { expectFault, RawClient } from '../../support/raw-http.ts';
import { ask, BareConnection, requestText, upgrade } from '../../support/raw-socket.ts';
import { type Config, type RunningServer, startServer } from '../../support/server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createNode, createProject } from '../../support/with-server.ts';

const host = { Host: '127.0.0.1' };
const version = requestText('GET /v2/version', host);

function serverWith(Server: Config[string], launcher: readonly string[] = []) {
  const bench = {} as { server: RunningServer; client: RawClient };
  before(async () => {
    bench.server = await startServer({ config: { Server, Qemu: { acceleration: 'off' } }, launcher });
    bench.client = new RawClient(bench.server.url);
  });
  after(async () => {
    bench.client?.close();
    await bench.server?.stop();
  });
  return bench;
}

describe('connections and sockets', () => {
  const bench = serverWith({ max_connections_per_client: 20 });

  test('beyond the limit of an address are refused; others are served, and it is again when some ended', async () => {
    const { port } = bench.server;
    const from = '127.0.0.20';
    const held = Array.from({ length: 10 }, () => new BareConnection(port, { from }));
    for (const one of held) one.write(requestText('GET /v2/notifications/ws', { ...host, ...upgrade }));
    for (const one of held) assert.equal((await one.reply()).status, 101);
    const streams = Array.from({ length: 10 }, () => new BareConnection(port, { from }));
    for (const one of streams) one.write(requestText('GET /v2/notifications', host));
    for (const one of streams) assert.equal((await one.reply()).status, 200);
    const refused = await ask(port, version, { from });
    assert.equal(refused.status, 429);
    assert.match(refused.body, /20 connections already.*max_connections_per_client/);
    assert.equal((await ask(port, version, { from: '127.0.0.21' })).status, 200);
    for (const one of held) one.close();
    await waitFor(async () => (await ask(port, version, { from })).status === 200, { what: 'room for another connection' });
    for (const one of streams) one.close();
  });
});

describe('requests and uploads', () => {
  const bench = serverWith({ max_requests_per_client: 10, max_uploads_per_client: 4 });
  const from = '127.0.0.20';

  test('requests that are being answered are limited', async () => {
    const { port } = bench.server;
    const held = Array.from({ length: 10 }, () => new BareConnection(port, { from }));
    for (const one of held) one.write(requestText('GET /v2/notifications', host));
    for (const one of held) assert.equal((await one.reply()).status, 200);
    const refused = await ask(port, version, { from });
    assert.deepEqual([refused.status, /10 requests already.*max_requests_per_client/.test(refused.body)], [429, true]);
    assert.equal((await ask(port, version, { from: '127.0.0.21' })).status, 200);
    for (const one of held) one.close();
    await waitFor(async () => (await ask(port, version, { from })).status === 200, { what: 'room for another request' });
  });

  test('many in one connection, one after the other, are not too many', async () => {
    const { port } = bench.server;
    const connection = new BareConnection(port, { from });
    for (let count = 0; count < 50; count++) {
      connection.write(version);
      await waitFor(() => connection.received.split('HTTP/1.1 200').length > count + 1, { what: 'an answer' });
    }
    connection.close();
  });

  test('uploads at a time are limited, and those refused leave nothing', async () => {
    const { port } = bench.server;
    const upload = (name: string) =>
      `POST /v2/compute/qemu/images/${name} HTTP/1.1\r\nHost: x.localhost\r\n`.replace('x.localhost', '127.0.0.1');
    const held = Array.from({ length: 4 }, (_, index) => {
      const connection = new BareConnection(port, { from });
      connection.write(`${upload(`half-${index}`)}Content-Length: 10\r\n\r\nhalf`);
      return connection;
    });
    const more = `${upload('more.img')}Content-Length: 4\r\n\r\nmore`;
    const refused = await waitFor(
      async () => {
        const reply = await ask(port, more, { from });
        return reply.status === 429 && reply;
      },
      { what: 'an upload that is refused' },
    );
    assert.match(refused.body, /4 uploads already.*max_uploads_per_client/);
    assert.equal((await ask(port, more, { from: '127.0.0.21' })).status, 204);
    for (const one of held) one.close();
    await waitFor(async () => (await ask(port, more, { from })).status === 204, { what: 'room for another upload' });
  });
});

describe('a disk that would fall below min_free_bytes', () => {
  const bench = serverWith({ min_free_bytes: 900_000_000_000_000 });

  test('uploads of images, files, symbols and archives are refused, and nothing is kept', async () => {
    const { client } = bench;
    const project = await createProject(client);
    const node = await createNode(client, project);
    for (const line of [
      'POST /v2/compute/qemu/images/new.img',
      'POST /v2/computes/local/qemu/images/new.img',
      `POST ${project.path}/files/notes.txt`,
      `POST ${project.computePath}/files/notes.txt`,
      `POST ${project.path}/nodes/${node.node_id}/files/startup.vpc`,
      'POST /v2/symbols/new.svg/raw',
      `POST /v2/projects/${crypto.randomUUID()}/import`,
    ]) {
      expectFault(await client.send(line, { raw: 'x'.repeat(1000) }), 507, /min_free_bytes/);
    }
    assert.deepEqual(await client.get('/v2/compute/qemu/images'), []);
    assert.equal((await client.send(`GET ${project.path}/files/notes.txt`)).status, 404);
  });

  test('so are copies and captures', async () => {
    const { client } = bench;
    const project = await createProject(client);
    for (const line of [`POST ${project.path}/snapshots`, `POST ${project.path}/duplicate`])
      expectFault(await client.send(line, { body: { name: 'copy' } }), 507, /min_free_bytes/);
    // Uploads of a lab file do not come over HTTP.
    const lab = 'name: full\nnodes: {PC: {kind: vpcs, config: x}}';
    expectFault(await client.send('POST /v2/labs/apply', { body: { lab } }), 507, /min_free_bytes/);
  });
});

describe('a copy that would fall below min_free_bytes', async () => {
  const { bavail, bsize } = await statfs(tmpdir());
  const freeBytes = bavail * bsize;
  const bench = serverWith({ min_free_bytes: Math.floor(freeBytes / 2) });

  test('an image counts what it takes at once', async () => {
    const { client } = bench;
    const mebibytes = Math.floor((freeBytes * 0.75) / 1024 ** 2);
    const make = (fields: object) =>
      client.send('POST /v2/compute/qemu/img', {
        body: { qemu_img: 'qemu-img', path: 'large.img', format: 'raw', size: mebibytes, ...fields },
      });
    for (const preallocation of ['full', 'falloc']) expectFault(await make({ preallocation }), 507, /min_free_bytes/);
    const tables = { format: 'qcow2', preallocation: 'metadata', size: mebibytes * 4096 };
    expectFault(await make(tables), 507, /min_free_bytes/);
    assert.equal((await make({ preallocation: 'off' })).status, 201);
  });

  test('a fork and a restore count what they copy, and leave nothing', async (t) => {
    const { client, server } = bench;
    const project = await createProject(client);
    const { snapshot_id } = await client.post<{ snapshot_id: string }>(`${project.path}/snapshots`, { name: 'one' });
    const folder = join(server.dataDir, 'projects', project.id, 'snapshots', 'one.gns3snapshot');
    if ((await sizeOfCopy(folder, folder)) === 0) return t.skip('this file system shares the blocks of copies');
    // The file has no content: only a copy would have all of it.
    await writeFile(join(folder, 'disk.img'), '');
    await truncate(join(folder, 'disk.img'), Math.floor(freeBytes * 0.75));
    const path = `${project.path}/snapshots/${snapshot_id}`;
    for (const verb of ['fork', 'restore'])
      expectFault(await client.send(`POST ${path}/${verb}`, { body: {} }), 507, /min_free_bytes/);
    const names = await readdir(join(server.dataDir, 'projects'));
    assert.deepEqual(names, [project.id]);
    assert.equal((await client.get<object[]>('/v2/projects')).length, 1);
  });
});

describe('no file descriptors left', () => {
  // An idle server has about half of its file descriptors open.
  const bench = serverWith({}, ['prlimit', '--nofile=96:96', '--']);

  test('a node says so, and does not blame the ports', async () => {
    const { client, server } = bench;
    const project = await createProject(client);
    const held: BareConnection[] = [];
    try {
      const reply = await waitFor(
        async () => {
          // Two at a time, for the last ones must be left to this request itself.
          held.push(new BareConnection(server.port), new BareConnection(server.port));
          const answer = await client.send(`POST ${project.path}/nodes`, {
            body: { name: 'N', node_type: 'vpcs', compute_id: 'local' },
          });
          return answer.status !== 201 && answer;
        },
        { what: 'a refusal', limitMs: 60_000 },
      );
      expectFault(reply, 503, /cannot open another file or connection \(EMFILE\)/);
    } finally {
      for (const one of held) one.close();
    }
    await waitFor(async () => (await client.send('GET /v2/version')).status === 200, { what: 'service again' });
    await createNode(client, project);
  });
});
