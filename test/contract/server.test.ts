/** The server as a whole: shutdown through the API, and the settings that clients store on it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { expectFault, expectStatus, RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, type NodeBody, withServer } from '../support/with-server.ts';

const bench = await withServer();

describe('POST /v2/shutdown', () => {
  test('is answered, ends the server cleanly, and the next one finds everything, running nodes included', async () => {
    const server = await startServer({ stopNodes: false, config: { Qemu: { acceleration: 'off' } } });
    const client = new RawClient(server.url);
    try {
      const project = await createProject(client);
      const node = await createNode(client, project);
      const path = `${project.path}/nodes/${node.node_id}`;
      await client.post(`${path}/start`, {}, 200);
      const reply = expectStatus(await client.send('POST /v2/shutdown'), 201);
      assert.deepEqual([reply.bytes.length, reply.headers['content-type']], [0, 'application/octet-stream']);
      await waitFor(() => !server.running, { what: 'the end of the server' });
      assert.equal(await server.terminate(), 0);
      await server.restart();
      const found = await waitFor(
        async () => {
          const { status } = await client.get<NodeBody>(path);
          return status === 'started';
        },
        { what: 'the running node' },
      );
      assert.ok(found);
    } finally {
      client.close();
      await server.stop();
    }
  });

  test('is refused by a server that is not local', async () => {
    const server = await startServer({ args: ['--no-local'], config: { Qemu: { acceleration: 'off' } } });
    const client = new RawClient(server.url);
    try {
      expectFault(await client.send('POST /v2/shutdown'), 403);
      expectFault(await client.send('POST /v2/debug'), 403);
      assert.equal((await client.get<{ local: boolean }>('/v2/version')).local, false);
    } finally {
      client.close();
      await server.stop();
    }
  });
});

describe('POST /v2/debug', () => {
  test('writes what the server and its computes know, and no password', async () => {
    const { client, server } = bench;
    const project = await createProject(client, { name: 'in trouble' });
    const node = await createNode(client, project);
    const password = 'correct-horse-battery';
    const address = { protocol: 'http', host: '127.0.0.1', port: 1, user: 'someone', password, name: 'silent' };
    const { compute_id } = await client.post<{ compute_id: string }>('/v2/computes', address);
    assert.equal(expectStatus(await client.send('POST /v2/debug'), 201).bytes.length, 0);
    const read = (name: string) => readFile(join(server.dataDir, 'debug', name), 'utf8');
    const own = await read('controller.txt');
    assert.ok(own.includes('Project in trouble') && own.includes(node.node_id));
    assert.match(await read('compute_local.txt'), /"node_types"/);
    const silent = await read(`compute_${compute_id}.txt`);
    assert.match(silent, /Cannot connect/);
    assert.ok(!`${own}${silent}`.includes(password));
    await client.delete(`/v2/computes/${compute_id}`);
  });
});

describe('settings that clients keep', () => {
  const vm = {
    allocate_vcpus_ram: true,
    enable: false,
    engine: 'vmware',
    headless: false,
    port: 80,
    ram: 2048,
    vcpus: 1,
    vmname: null,
    when_exit: 'stop',
  };

  test('have defaults, are merged, refuse unknown keys, and survive kill -9', async () => {
    const { client } = bench;
    assert.deepEqual(await client.get('/v2/iou_license'), { iourc_content: '', license_check: true });
    assert.deepEqual(await client.get('/v2/gns3vm'), vm);
    const license = { iourc_content: '[license]\nhost = 0123456789abcdef;\n', license_check: true };
    assert.deepEqual(await client.put('/v2/iou_license', { iourc_content: license.iourc_content }, 201), license);
    assert.deepEqual(await client.put('/v2/gns3vm', { vcpus: 4, vmname: 'a vm' }, 201), { ...vm, vcpus: 4, vmname: 'a vm' });
    assert.deepEqual(await client.put('/v2/gns3vm', { ...vm, ram: 4096 }, 201), { ...vm, ram: 4096 });
    expectFault(await client.send('PUT /v2/iou_license', { body: { other: 1 } }), 400);
    for (const body of [{ other: 1 }, { engine: 'none' }, { port: 0 }, { ram: '1' }])
      expectFault(await client.send('PUT /v2/gns3vm', { body }), 400);
    await bench.server.kill9();
    await bench.server.restart();
    assert.deepEqual(await client.get('/v2/iou_license'), license);
    assert.deepEqual(await client.get('/v2/gns3vm'), { ...vm, ram: 4096 });
  });

  test('no engine is present: none is listed, and none can be enabled', async () => {
    const { client } = bench;
    const before = await client.get('/v2/gns3vm');
    assert.deepEqual(await client.get('/v2/gns3vm/engines'), []);
    assert.deepEqual(await client.get('/v2/gns3vm/engines/vmware/vms'), []);
    expectFault(await client.send('GET /v2/gns3vm/engines/other/vms'), 409);
    expectFault(await client.send('PUT /v2/gns3vm', { body: { enable: true } }), 409, /engine .* is not available/);
    assert.deepEqual(await client.get('/v2/gns3vm'), before);
  });

  test('statistics have one entry for each compute that answers', async () => {
    await bench.client.post('/v2/computes', { protocol: 'http', host: '127.0.0.1', port: 1, name: 'gone' });
    const [entry, ...others] = await bench.client.get<Record<string, unknown>[]>('/v2/statistics');
    assert.deepEqual([entry?.compute_id, others], ['local', []]);
    const statistics = entry?.statistics as Record<string, unknown>;
    assert.equal(Number(statistics.memory_used), Number(statistics.memory_total) - Number(statistics.memory_free));
    assert.equal((statistics.load_average_percent as number[]).length, 3);
  });
});
