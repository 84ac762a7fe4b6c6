/** States of a QEMU node, with a real machine: firmware and a network boot ROM, no image. */
import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { openTelnet } from '../support/telnet.ts';
import { createProject, freshName, idleVm, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';
import { assertShape, qemuNodeShape } from './shapes.ts';

type Verb = 'start' | 'stop' | 'suspend' | 'resume' | 'reload';
type State = 'stopped' | 'started' | 'suspended';

const bench = await withServer();
let project: ProjectHandle;
let nodes: string;
let node: string;
before(async () => {
  project = await createProject(bench.client);
  // The controller would remove a node of its own project that it does not know.
  const { project_id } = await bench.client.post<{ project_id: string }>('/v2/compute/projects', { name: 'here' });
  nodes = `/v2/compute/projects/${project_id}/qemu/nodes`;
  const made = await bench.client.post<NodeBody>(nodes, { name: freshName('vm'), ...idleVm });
  node = `${nodes}/${made.node_id}`;
});

const ask = (verb: Verb) => bench.client.send(`POST ${node}/${verb}`);
const status = async () => (await bench.client.get<NodeBody>(node)).status;

async function bring(state: State): Promise<void> {
  expectStatus(await ask('stop'), 204);
  if (state !== 'stopped') expectStatus(await ask('start'), 200);
  if (state === 'suspended') expectStatus(await ask('suspend'), 204);
  assert.equal(await status(), state);
}

/** State, verb, answer, state afterwards. */
const matrix: [State, Verb, number, State][] = [
  ['stopped', 'start', 200, 'started'],
  ['stopped', 'stop', 204, 'stopped'],
  ['stopped', 'suspend', 204, 'stopped'],
  ['stopped', 'resume', 409, 'stopped'],
  ['started', 'start', 200, 'started'],
  ['started', 'stop', 204, 'stopped'],
  ['started', 'suspend', 204, 'suspended'],
  ['started', 'resume', 204, 'started'],
  ['started', 'reload', 204, 'started'],
  ['suspended', 'start', 200, 'started'],
  ['suspended', 'stop', 204, 'stopped'],
  ['suspended', 'suspend', 204, 'suspended'],
  ['suspended', 'resume', 204, 'started'],
];

describe('verbs on the compute', () => {
  for (const [from, verb, answer, to] of matrix) {
    test(`${from}, ${verb}: ${answer}, ${to}`, async () => {
      await bring(from);
      const reply = await ask(verb);
      if (answer >= 400) expectFault(reply, answer);
      expectStatus(reply, answer);
      if (answer === 200) {
        const body = reply.json<NodeBody>();
        assertShape(body, qemuNodeShape);
        assert.equal(body.status, to);
        assert.match(String(body.command_line), /^\/.*qemu-system-\S+ .*-name/);
      }
      assert.equal(await status(), to);
    });
  }

  test('command_line stays that of the last start', async () => {
    await bring('started');
    const { command_line } = await bench.client.get<NodeBody>(node);
    await bring('stopped');
    assert.equal((await bench.client.get<NodeBody>(node)).command_line, command_line);
    await bench.server.restart();
    assert.equal((await bench.client.get<NodeBody>(node)).command_line, command_line);
  });

  test('console_type of a running machine cannot be changed: 409', async () => {
    await bring('started');
    expectFault(await bench.client.send(`PUT ${node}`, { body: { console_type: 'vnc' } }), 409);
    await bring('stopped');
    assert.equal((await bench.client.put<NodeBody>(node, { console_type: 'vnc' })).console_type, 'vnc');
    assert.equal((await bench.client.put<NodeBody>(node, { console_type: 'telnet' })).console_type, 'telnet');
  });

  test('the telnet console reaches the machine', async () => {
    await bring('started');
    const { console: port } = await bench.client.get<NodeBody>(node);
    const telnet = await openTelnet(port as number);
    await telnet.expect(/iPXE|SeaBIOS/);
    telnet.close();
    await bring('stopped');
  });
});

describe('verbs on the controller', () => {
  let vm: NodeBody;
  let path: string;
  beforeEach(async () => {
    vm = await bench.client.post<NodeBody>(`${project.path}/nodes`, {
      name: freshName('vm'),
      node_type: 'qemu',
      compute_id: 'local',
      properties: idleVm,
    });
    path = `${project.path}/nodes/${vm.node_id}`;
  });

  test('start, suspend, start, reload, stop: 200 with the node and its new state', async () => {
    const steps: [string, State][] = [
      ['start', 'started'],
      ['suspend', 'suspended'],
      ['start', 'started'],
      ['reload', 'started'],
      ['stop', 'stopped'],
    ];
    for (const [verb, state] of steps) {
      const answer = await bench.client.post<NodeBody>(`${path}/${verb}`, {}, 200);
      assert.equal(answer.node_id, vm.node_id);
      assert.equal((await bench.client.get<NodeBody>(path)).status, state, verb);
    }
    await bench.client.delete(path);
  });

  test('all nodes at once: 204', async () => {
    const states = async () => (await bench.client.get<NodeBody[]>(`${project.path}/nodes`)).map((each) => each.status);
    for (const [verb, state] of [
      ['start', 'started'],
      ['suspend', 'suspended'],
      ['reload', 'started'],
      ['stop', 'stopped'],
    ] as const) {
      await bench.client.post(`${project.path}/nodes/${verb}`, {}, 204);
      assert.deepEqual([...new Set(await states())], [state], verb);
    }
    await bench.client.delete(path);
  });

  test('a node deleted while it runs leaves no process', async () => {
    await bench.client.post(`${path}/start`, {}, 200);
    const ports = await bench.client.get('/v2/compute/network/ports');
    await bench.client.delete(path);
    expectFault(await bench.client.send(`GET ${path}`), 404);
    assert.notDeepEqual(await bench.client.get('/v2/compute/network/ports'), ports);
  });
});
