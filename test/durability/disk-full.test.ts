/** A full disk: a change that cannot be written is refused with the reason and not made; with free space all works again. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, open, readFile, realpath, rm, statfs, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { expectFault, expectStatus, RawClient } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { createNode, createProject, type NodeBody, type ProjectHandle } from '../support/with-server.ts';

const run = promisify(execFile);
const folder = await realpath(await mkdtemp(join(tmpdir(), 'pb-full-')));
const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder]).then(
  () => true,
  () => false,
);
after(async () => {
  if (mounted) await run('umount', ['-l', folder]);
  await rm(folder, { recursive: true, force: true });
});

/** Fills the disk to its last byte; deleting the file frees it. */
async function fill(): Promise<() => Promise<void>> {
  const path = join(folder, 'ballast');
  const file = await open(path, 'a');
  for (const size of [65_536, 4096, 512, 64, 8, 1]) {
    const block = Buffer.alloc(size, 1);
    for (;;) {
      const { bytesWritten } = await file.write(block).catch(() => ({ bytesWritten: 0 }));
      if (bytesWritten < size) break;
    }
  }
  await file.close();
  assert.equal((await statfs(folder)).bfree, 0);
  return () => unlink(path);
}

describe('a full disk', { skip: mounted ? false : 'a small file system can be mounted by root only' }, () => {
  let server: RunningServer;
  let client: RawClient;
  let project: ProjectHandle;
  let node: NodeBody;
  before(async () => {
    // No floor is set: the whole disk is smaller than the default one, and the last byte is the subject here.
    const config = { Server: { min_free_bytes: 0 }, Qemu: { acceleration: 'off' } };
    server = await startServer({ dataDir: join(folder, 'data'), config });
    client = new RawClient(server.url);
    project = await createProject(client);
    node = await createNode(client, project);
  });
  after(async () => {
    client?.close();
    await server?.stop();
  });
  const state = async () => ({
    projects: await client.get('/v2/projects'),
    nodes: await client.get(`${project.path}/nodes`),
    links: await client.get(`${project.path}/links`),
    ports: await client.get('/v2/compute/network/ports'),
  });

  /** Many small changes: the last block of a file has room for some. */
  async function changesUntilRefused(): Promise<number> {
    for (let x = 1; x < 2000; x++) {
      const reply = await client.send(`PUT ${project.path}/nodes/${node.node_id}`, { body: { x } });
      if (reply.status === 200) continue;
      expectFault(reply, 507, /ENOSPC|no space|written/i);
      return x - 1;
    }
    throw new Error('no change was refused');
  }

  test('5xx with the reason; the state is the old one in memory and, after a restart, on disk', async () => {
    const release = await fill();
    const x = await changesUntilRefused();
    const before = await state();
    assert.equal((before.nodes as unknown as NodeBody[])[0]?.x, x);
    const requests: [string, Record<string, unknown>][] = [
      [`POST ${project.path}/nodes`, { name: 'full', node_type: 'vpcs', compute_id: 'local' }],
      [`PUT ${project.path}/nodes/${node.node_id}`, { x: 9999 }],
      ['POST /v2/projects', { name: 'full' }],
      [`POST ${project.path}/duplicate`, { name: 'full' }],
      [`POST ${project.path}/drawings`, { svg: `<svg>${' '.repeat(5000)}</svg>` }],
      ['POST /v2/computes', { protocol: 'http', host: '127.0.0.1', port: 1, name: 'full' }],
    ];
    for (const [line, body] of requests) {
      const { message } = expectFault(await client.send(line, { body }), [409, 507]);
      assert.match(String(message), /space|ENOSPC|written|copied/i, line);
      assert.deepEqual(await state(), before, line);
    }
    await server.kill9();
    await release();
    await server.restart();
    assert.deepEqual({ ...(await state()), ports: before.ports }, before);
  });

  test('when there is room again the same requests succeed, without a restart', async () => {
    const release = await fill();
    await changesUntilRefused();
    await release();
    await client.put(`${project.path}/nodes/${node.node_id}`, { x: 31 });
    const made = await createNode(client, project);
    expectStatus(await client.send(`POST ${project.path}/duplicate`, { body: { name: 'roomy' } }), 201);
    await server.kill9();
    await server.restart();
    const nodes = await client.get<NodeBody[]>(`${project.path}/nodes`);
    assert.deepEqual(
      nodes.map(({ node_id, x }) => [node_id, x]),
      [
        [node.node_id, 31],
        [made.node_id, 0],
      ],
    );
  });

  test('closing on a full disk keeps everything', async () => {
    const release = await fill();
    await changesUntilRefused();
    const nodes = await client.get<NodeBody[]>(`${project.path}/nodes`);
    const reply = await client.send(`POST ${project.path}/close`);
    assert.ok([204, 409, 507].includes(reply.status), reply.text());
    await release();
    await server.kill9();
    await server.restart();
    await client.post(`${project.path}/open`);
    const now = await client.get<NodeBody[]>(`${project.path}/nodes`);
    assert.deepEqual(
      now.map(({ node_id, x }) => [node_id, x]),
      nodes.map(({ node_id, x }) => [node_id, x]),
    );
    const { path, filename } = await client.get<{ path: string; filename: string }>(project.path);
    JSON.parse(await readFile(join(path, filename), 'utf8'));
  });
});

test('a file system that became read-only: refused with the reason, the bytes stay, and it works again afterwards', {
  skip: mounted ? false : 'a small file system can be mounted by root only',
}, async () => {
  const place = await realpath(await mkdtemp(join(tmpdir(), 'pb-readonly-')));
  await run('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', place]);
  const server = await startServer({ config: { Qemu: { acceleration: 'off' } } });
  const client = new RawClient(server.url);
  try {
    const path = join(place, 'project');
    const project = await createProject(client, { path });
    const node = await createNode(client, project);
    await client.post(`${project.path}/close`, {}, 204);
    const file = join(path, (await client.get<{ filename: string }>(project.path)).filename);
    const bytes = await readFile(file, 'latin1');
    await run('mount', ['-o', 'remount,ro', place]);
    const before = await client.get(project.path);
    for (const [line, body] of [
      [`POST ${project.path}/open`, {}],
      [`PUT ${project.path}`, { zoom: 55 }],
    ] as const) {
      expectFault(await client.send(line, { body }), [409, 507], /EROFS|read-only/i);
    }
    assert.deepEqual(await client.get(project.path), before);
    assert.equal(await readFile(file, 'latin1'), bytes);
    await run('mount', ['-o', 'remount,rw', place]);
    await client.post(`${project.path}/open`);
    await client.put(`${project.path}/nodes/${node.node_id}`, { x: 5 });
  } finally {
    client.close();
    await server.stop();
    await run('umount', ['-l', place]);
    await rm(place, { recursive: true, force: true });
  }
});
