/** The console of a node as a WebSocket of the controller, for a node on the local and on a remote compute. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { expectFault } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket, type WebSocketClient } from '../support/web-socket.ts';
import { createNode, createProject, freshName, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

const bench = await withServer();
const away = { compute_id: randomUUID(), user: 'admin', password: 'something' };
let remote: RunningServer;

before(async () => {
  const { user, password } = away;
  remote = await startServer({ config: { Server: { auth: true, user, password }, Qemu: { acceleration: 'off' } } });
  await bench.client.post('/v2/computes', {
    ...away,
    name: freshName('away'),
    protocol: 'http',
    host: '127.0.0.1',
    port: remote.port,
  });
});
after(() => remote?.stop());

const consoleOf = (project: ProjectHandle, node: NodeBody) => `${project.path}/nodes/${node.node_id}/console/ws`;
const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': Buffer.alloc(16).toString('base64'),
};

async function startedPc(compute_id: string): Promise<{ project: ProjectHandle; node: NodeBody }> {
  const project = await createProject(bench.client);
  const node = await createNode(bench.client, project, 'vpcs', { compute_id });
  await bench.client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
  return { project, node };
}

function shows(socket: WebSocketClient, pattern: RegExp): Promise<unknown> {
  const text = () => Buffer.concat(socket.messages.map((message) => Buffer.from(message))).toString('latin1');
  return waitFor(() => pattern.test(text()), { what: `${pattern} on the console` });
}

for (const [where, computeId] of [
  ['on the local compute', 'local'],
  ['on a remote compute', away.compute_id],
] as const) {
  describe(`a node ${where}`, () => {
    test('text and binary frames reach it, and its answers come back as bytes', async () => {
      const { project, node } = await startedPc(computeId);
      const socket = await openWebSocket(`${bench.server.url}${consoleOf(project, node)}`);
      await shows(socket, /> /);
      socket.send('echo words\r');
      await shows(socket, /\nwords\r/);
      socket.send(Uint8Array.from(Buffer.from('echo bytes\r')));
      await shows(socket, /\nbytes\r/);
      assert.ok(socket.messages.every((message) => message instanceof Buffer));
      socket.close();
      await socket.closed;
    });

    test('two see the same; one that leaves does not take the other along', async () => {
      const { project, node } = await startedPc(computeId);
      const [one, two] = await Promise.all([1, 2].map(() => openWebSocket(`${bench.server.url}${consoleOf(project, node)}`)));
      assert.ok(one && two);
      await shows(one, /> /);
      one.send('echo shared\r');
      await Promise.all([shows(one, /\nshared\r/), shows(two, /\nshared\r/)]);
      one.close();
      await one.closed;
      two.send('echo alone\r');
      await shows(two, /\nalone\r/);
      await bench.client.post(`${project.path}/nodes/${node.node_id}/stop`, {}, 200);
      await two.closed;
    });

    test('a node that is not started is refused before the upgrade', async () => {
      const project = await createProject(bench.client);
      const node = await createNode(bench.client, project, 'vpcs', { compute_id: computeId });
      expectFault(await bench.client.send(`GET ${consoleOf(project, node)}`, { headers: upgrade }), 409);
      expectFault(await bench.client.send(`GET ${consoleOf(project, node)}`), 400);
    });
  });
}

test('unknown nodes and projects, and closed projects', async () => {
  const project = await createProject(bench.client);
  const node = await createNode(bench.client, project);
  const ask = (path: string) => bench.client.send(`GET ${path}`, { headers: upgrade });
  expectFault(await ask(`${project.path}/nodes/${randomUUID()}/console/ws`), 404);
  expectFault(await ask(`/v2/projects/${randomUUID()}/nodes/${node.node_id}/console/ws`), 404);
  await bench.client.post(`${project.path}/close`, {}, 204);
  expectFault(await ask(consoleOf(project, node)), 403);
});

test('console null in a change stands for no choice: the port stays, and is what the compute listens on', async () => {
  const project = await createProject(bench.client);
  const node = await createNode(bench.client, project);
  const path = `${project.path}/nodes/${node.node_id}`;
  const changed = await bench.client.put<NodeBody>(path, { console: null, x: 7 });
  assert.deepEqual([changed.x, changed.console], [7, node.console]);
  const onCompute = await bench.client.get<NodeBody>(`${project.computePath}/vpcs/nodes/${node.node_id}`);
  assert.equal(onCompute.console, node.console);
});
