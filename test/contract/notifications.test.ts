/** Notifications to listeners of a project and of the server through a whole lab: each event once, in order; and slow listeners. */
import assert from 'node:assert/strict';
import { readFile, rename } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type Listener, listen, type Notice } from '../support/notices.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  createNode,
  createProject,
  end,
  freshName,
  idleVm,
  type NodeBody,
  type ProjectHandle,
  tinyVm,
} from '../support/with-server.ts';

const config = { Qemu: { acceleration: 'off' }, Server: { auto_close_grace: 1 } };
const server = await startServer({ config });
after(() => server.stop());
const client = new RawClient(server.url);
after(() => client.close());

const listenTo = (path: string) => listen(`${server.url}${path}/notifications/ws`);
const ofServer = () => listenTo('/v2');

/** Action and subject; usage arrives at any time. */
const eventsOf = (listener: Listener) =>
  listener
    .notices()
    .filter(({ action }) => !action.startsWith('compute.'))
    .map(
      ({ action, event }) =>
        `${action} ${event.name ?? event.link_id ?? event.drawing_id ?? event.message}${event.status ? ` ${event.status}` : ''}`,
    );

const isOf = (id: unknown, action: string) => (notice: Notice) =>
  notice.action === action && Object.values(notice.event).includes(id);

describe('a whole lab', () => {
  it('is notified on both streams, each event once and in order', async () => {
    const controller = await ofServer();
    const project = await createProject(client, { name: 'lab' });
    const listener = await listenTo(project.path);
    const one = await createNode(client, project, 'vpcs', { name: 'A' });
    const vm = await createNode(client, project, 'qemu', { name: 'VM', properties: idleVm });
    const link = await client.post(`${project.path}/links`, { nodes: [end(one), end(vm)] });
    const drawing = await client.post(`${project.path}/drawings`, { svg: '<svg/>' });
    await client.post(`${project.path}/nodes/${one.node_id}/start`, {}, 200);
    await client.post(`${project.path}/nodes/${vm.node_id}/start`, {}, 200);
    await client.put(`${project.path}/nodes/${one.node_id}`, { name: 'B' });
    await client.put(`${project.path}/links/${link.link_id}`, { suspend: true }, 201);
    await client.put(`${project.path}/drawings/${drawing.drawing_id}`, { x: 3 }, 201);
    await client.post(`${project.path}/nodes/${vm.node_id}/stop`, {}, 200);
    await client.delete(`${project.path}/nodes/${vm.node_id}`);
    await client.delete(`${project.path}/drawings/${drawing.drawing_id}`);
    await client.put(project.path, { zoom: 150 });
    await client.post(`${project.path}/nodes/${one.node_id}/stop`, {}, 200);
    await client.post(`${project.path}/close`, {}, 204);
    await client.post(`${project.path}/open`);
    await client.delete(project.path);
    await controller.find(isOf('lab', 'project.deleted'), 'the end');
    const expected = [
      'node.created A stopped',
      'node.created VM stopped',
      `link.created ${link.link_id}`,
      `drawing.created ${drawing.drawing_id}`,
      'node.updated A started',
      'node.updated VM started',
      'node.updated B started',
      `link.updated ${link.link_id}`,
      `drawing.updated ${drawing.drawing_id}`,
      'node.updated VM stopped',
      `link.deleted ${link.link_id}`,
      'node.deleted VM stopped',
      `drawing.deleted ${drawing.drawing_id}`,
      'node.updated B stopped',
      // Opened again.
      'node.created B stopped',
    ];
    await waitFor(() => eventsOf(listener).length >= expected.length, { what: 'the last event' });
    assert.deepEqual(eventsOf(listener), expected);
    assert.deepEqual(
      eventsOf(controller).filter((line) => line.includes('lab')),
      [
        'project.created lab opened',
        'project.updated lab opened',
        'project.closed lab closed',
        'project.opened lab opened',
        'project.deleted lab closed',
      ],
    );
    const numbers = listener.notices().flatMap(({ seq = [] }) => seq);
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(numbers).size, numbers.length);
    await Promise.all([listener.close(), controller.close()]);
  });

  it('reports the load of the computes each second, changed or not', async () => {
    const controller = await ofServer();
    const updates = () => controller.notices().filter(({ action }) => action === 'compute.updated');
    await waitFor(() => updates().length >= 2, { what: 'two events of the compute' });
    assert.equal(updates()[0]?.event.compute_id, 'local');
    await controller.close();
  });
});

it('opening a project notifies of every node, link and drawing', async () => {
  const project = await createProject(client);
  const ends = await Promise.all(['A', 'B'].map((name) => createNode(client, project, 'vpcs', { name })));
  const link = await client.post(`${project.path}/links`, { nodes: ends.map((node) => end(node)), suspend: true });
  const svg = `<svg>${'<rect/>'.repeat(200)}</svg>`;
  const drawing = await client.post(`${project.path}/drawings`, { svg });
  await client.post(`${project.path}/close`, {}, 204);
  const listener = await listenTo(project.path);
  await client.post(`${project.path}/open`);
  for (const node of ends) await listener.find(isOf(node.node_id, 'node.created'), node.name);
  assert.deepEqual((await listener.find(isOf(link.link_id, 'link.created'), 'the link')).event, link);
  assert.deepEqual((await listener.find(isOf(drawing.drawing_id, 'drawing.created'), 'the drawing')).event, drawing);
});

describe('a listener that does not read', () => {
  const eventBytes = 500_000;
  /** Bytes that wait for all streams of a client in the server (`src/api/stream-budgets.ts`). */
  const budgetBytes = 16 * 1024 * 1024;

  /** Resolves to the most bytes that the kernel holds of a connection of which nothing is read: the third word of tcp(7)'s limits. */
  async function mostHeldBytes(): Promise<number> {
    const limits = ['rmem', 'wmem'].map((name) => readFile(`/proc/sys/net/ipv4/tcp_${name}`, 'utf8'));
    return (await Promise.all(limits)).reduce((sum, text) => sum + Number(text.trim().split(/\s+/)[2]), 0);
  }

  /** Sends more events than so many connections and the server hold. */
  async function flood(project: ProjectHandle, connections: number): Promise<void> {
    const { drawing_id } = await client.post(`${project.path}/drawings`, {});
    const bytes = 1.1 * (connections * (await mostHeldBytes()) + budgetBytes);
    for (let n = 0; n * eventBytes < bytes; n++) {
      const svg = `<svg>${n}${'y'.repeat(eventBytes)}</svg>`;
      await client.put(`${project.path}/drawings/${drawing_id}`, { svg }, 201);
    }
  }

  async function deaf(path: string, headers = ''): Promise<{ socket: Socket; ended: () => boolean }> {
    const socket = connect(server.port, '127.0.0.1');
    let isOver = false;
    socket.on('close', () => {
      isOver = true;
    });
    socket.on('error', () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`);
    await new Promise((readable) => socket.once('readable', readable));
    socket.pause();
    return { socket, ended: () => isOver };
  }

  it('is cut off, and others are not', async () => {
    const project = await createProject(client, { auto_close: false });
    const good = await listenTo(project.path);
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
    const lines = await deaf(`${project.path}/notifications`);
    const frames = await deaf(`${project.path}/notifications/ws`, upgrade);
    await flood(project, 2);
    const node = await createNode(client, project);
    await good.find(isOf(node.node_id, 'node.created'), 'the node');
    // Whatever was on its way is read, and then it ends.
    for (const { socket, ended } of [lines, frames]) {
      let bytes = 0;
      socket.on('data', (data: Buffer) => {
        bytes += data.length;
      });
      socket.resume();
      await waitFor(ended, { what: 'the end of a listener that did not read' });
      assert.ok(bytes < 40 * 1024 * 1024, `${bytes} bytes waited for it`);
    }
    await good.close();
  });
});

describe('auto_close', () => {
  const isOpen = async (project: ProjectHandle) => (await client.get(project.path)).status === 'opened';

  it('waits a while after the last listener, and for running nodes', async () => {
    const project = await createProject(client, { auto_close: true });
    const node = await createNode(client, project);
    await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
    const controller = await ofServer();
    const [first, second] = [await listenTo(project.path), await listenTo(project.path)];
    await first.close();
    await second.close();
    // Another one with nothing that runs is closed in the meantime.
    const other = await createProject(client, { auto_close: true, name: freshName('idle') });
    await (await listenTo(other.path)).close();
    await controller.find(isOf(other.id, 'project.closed'), 'the project without running nodes');
    assert.equal(await isOpen(project), true);
    await client.post(`${project.path}/nodes/${node.node_id}/stop`, {}, 200);
    await controller.find(isOf(project.id, 'project.closed'), 'the project whose node was stopped');
    await controller.close();
  });

  it('does not close while a client listens, or without auto_close', async () => {
    const controller = await ofServer();
    const [watched, kept, idle] = await Promise.all([true, false, true].map((auto_close) => createProject(client, { auto_close })));
    if (!watched || !kept || !idle) throw new Error('projects are missing');
    const stays = await listenTo(watched.path);
    for (const project of [watched, kept, idle]) await (await listenTo(project.path)).close();
    await controller.find(isOf(idle.id, 'project.closed'), 'the idle project');
    assert.deepEqual([await isOpen(watched), await isOpen(kept)], [true, true]);
    await Promise.all([stays.close(), controller.close()]);
  });
});

describe('opening', () => {
  it('shows nodes that cannot be used with the reason, and opens all the same', async () => {
    const project = await createProject(client, { auto_close: false });
    const image = join(server.dataDir, 'images', 'QEMU', 'gone.img');
    await client.send('POST /v2/compute/qemu/images/gone.img', { raw: Buffer.alloc(1024 * 1024) });
    const broken = await createNode(client, project, 'qemu', { name: 'VM', properties: { ...tinyVm, hda_disk_image: 'gone.img' } });
    const good = await createNode(client, project, 'vpcs', { name: 'PC' });
    const link = await client.post(`${project.path}/links`, { nodes: [end(broken), end(good)] });
    await client.post(`${project.path}/close`, {}, 204);
    await rename(image, `${image}.away`);
    const listener = await listenTo(project.path);
    await client.post(`${project.path}/open`);
    const error = await listener.find(({ action }) => action === 'log.error', 'the reason');
    assert.match(String(error.event.message), /VM is not usable: .*gone\.img/);
    const shown = await client.get<NodeBody>(`${project.path}/nodes/${broken.node_id}`);
    assert.deepEqual(Object.keys(shown).sort(), Object.keys(broken).sort());
    assert.equal(shown.status, 'stopped');
    assert.match(String(shown.command_line), /^Not usable: .*gone\.img/);
    const [problem] = await client.get<Record<string, unknown>[]>(`${project.path}/problems`);
    assert.deepEqual([problem?.kind, problem?.id, problem?.name], ['node', broken.node_id, 'VM']);
    assert.equal((await client.get<unknown[]>(`${project.path}/links`)).length, 1);
    await client.post(`${project.path}/nodes/${good.node_id}/start`, {}, 200);
    await rename(`${image}.away`, image);
    await client.post(`${project.path}/nodes/${broken.node_id}/start`, {}, 200);
    assert.deepEqual(await client.get(`${project.path}/problems`), []);
    const repaired = await client.get<NodeBody>(`${project.path}/nodes/${broken.node_id}`);
    assert.match(String(repaired.command_line), /qemu-system/);
    assert.equal(repaired.status, 'started');
    await client.put(`${project.path}/links/${link.link_id}`, { filters: { latency: [4] } }, 201);
    await listener.close();
    await client.post(`${project.path}/close`, {}, 204);
  });

  it('with auto_start starts the nodes; with auto_open does so when the server starts', async () => {
    const project = await createProject(client, { auto_close: false, auto_start: true, auto_open: true });
    const node = await createNode(client, project);
    const status = async () => (await client.get<NodeBody>(`${project.path}/nodes/${node.node_id}`)).status;
    await client.post(`${project.path}/close`, {}, 204);
    await client.post(`${project.path}/open`);
    await waitFor(async () => (await status()) === 'started', { what: 'the node' });
    await client.post(`${project.path}/close`, {}, 204);
    await server.restart();
    await waitFor(async () => (await client.get(project.path)).status === 'opened', { what: 'the project' });
    await waitFor(async () => (await status()) === 'started', { what: 'the node after the start of the server' });
    await client.post(`${project.path}/close`, {}, 204);
  });
});
