/** Concurrent requests, machines that die, and machines that never start. */
import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import { processesOf } from '../support/leftovers.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
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
  withServer,
} from '../support/with-server.ts';

const bench = await withServer();
const send = (line: string, body?: unknown) => bench.client.send(line, body === undefined ? {} : { body });
const machines = () =>
  processesOf(bench.server.dataDir, bench.server.runtimeDirectory).filter(({ commandLine }) =>
    commandLine.includes('qemu-system-'),
  );
const ports = () => bench.client.get('/v2/compute/network/ports');

let project: ProjectHandle;
let vm: string;
let console: number;
before(async () => {
  project = await createProject(bench.client);
});
beforeEach(async () => {
  const node = await createNode(bench.client, project, 'qemu', { properties: idleVm });
  vm = `${project.path}/nodes/${node.node_id}`;
  console = node.console as number;
});

describe('requests at the same time', () => {
  test('two links for one port: one 201, one 409, many times', async () => {
    for (let round = 0; round < 8; round++) {
      const [a, b, c] = await Promise.all([1, 2, 3].map(() => createNode(bench.client, project)));
      if (!a || !b || !c) throw new Error('nodes are missing');
      const nodes = [
        [end(a), end(b)],
        [end(c), end(a)],
        [end(b), end(a)],
      ];
      const replies = await Promise.all(nodes.map((ends) => send(`POST ${project.path}/links`, { nodes: ends })));
      const statuses = replies.map(({ status }) => status).sort();
      assert.deepEqual(statuses, [201, 409, 409]);
      for (const node of [a, b, c]) await bench.client.delete(`${project.path}/nodes/${node.node_id}`);
    }
  });

  test('two nodes for one console port: both are made, each with its own', async () => {
    await bench.client.delete(vm);
    const ask = () => createNode(bench.client, project, 'vpcs', { console });
    const nodes = await Promise.all([ask(), ask(), ask()]);
    assert.equal(new Set(nodes.map((node) => node.console)).size, 3);
    for (const node of nodes) await bench.client.delete(`${project.path}/nodes/${node.node_id}`);
  });

  test('ten projects with one name: one is made', async () => {
    const name = freshName('same');
    const replies = await Promise.all(Array.from({ length: 10 }, () => send('POST /v2/projects', { name })));
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, ...Array(9).fill(409)]);
  });

  test('ten nodes with one name: ten names', async () => {
    const nodes = await Promise.all(Array.from({ length: 10 }, () => createNode(bench.client, project, 'vpcs', { name: 'PC' })));
    assert.equal(new Set(nodes.map(({ name }) => name)).size, 10);
    await Promise.all(nodes.map((node) => bench.client.delete(`${project.path}/nodes/${node.node_id}`)));
  });

  test('start while starting: one machine', async () => {
    const replies = await Promise.all(Array.from({ length: 4 }, () => send(`POST ${vm}/start`)));
    for (const reply of replies) expectStatus(reply, 200);
    assert.equal(machines().length, 1);
    await bench.client.delete(vm);
  });

  test('delete while starting: no node, no machine, no ports', async () => {
    await bench.client.delete(vm);
    const before = await ports();
    for (let round = 0; round < 4; round++) {
      const node = await createNode(bench.client, project, 'qemu', { properties: idleVm });
      const path = `${project.path}/nodes/${node.node_id}`;
      const [start, deletion] = await Promise.all([send(`POST ${path}/start`), send(`DELETE ${path}`)]);
      if (start.status !== 200) expectFault(start, [404, 409]);
      expectStatus(deletion, 204);
      expectFault(await send(`GET ${path}`), 404);
    }
    assert.deepEqual(machines(), []);
    assert.deepEqual(await ports(), before);
  });

  test('stop, suspend and reload while starting leave a machine that is what its status says', async () => {
    for (const verb of ['stop', 'suspend', 'reload']) {
      const replies = await Promise.all([send(`POST ${vm}/start`), send(`POST ${vm}/${verb}`), send(`POST ${vm}/start`)]);
      for (const reply of replies) if (reply.status !== 200) expectFault(reply, 409);
      const { status } = await bench.client.get<NodeBody>(vm);
      assert.equal(machines().length, status === 'stopped' ? 0 : 1, `${verb}: ${status}`);
      await bench.client.post(`${vm}/stop`, {}, 200);
    }
    await bench.client.delete(vm);
  });

  for (const [what, request] of [
    ['close', 'POST {}/close'],
    ['delete', 'DELETE {}'],
  ] as const) {
    test(`${what} the project while a node starts and another is made: nothing is left`, async () => {
      const before = await ports();
      const passing = await createProject(bench.client);
      const node = await createNode(bench.client, passing, 'qemu', { properties: idleVm });
      const count = machines().length;
      const body = { name: 'late', node_type: 'qemu', compute_id: 'local' };
      const [start, made, end] = await Promise.all([
        send(`POST ${passing.path}/nodes/${node.node_id}/start`),
        send(`POST ${passing.path}/nodes`, body),
        send(request.replace('{}', passing.path)),
      ]);
      for (const reply of [start, made]) if (reply.status >= 300) expectFault(reply, [403, 404, 409]);
      expectStatus(end, 204);
      assert.equal(machines().length, count);
      assert.deepEqual(await ports(), before);
      if (what === 'close') await bench.client.delete(passing.path);
    });
  }

  for (const verb of ['start', 'reload', 'stop', 'console/reset']) {
    test(`${verb} of all nodes while one is deleted: done with the others`, async () => {
      const passing = await createProject(bench.client);
      const nodes = await Promise.all(Array.from({ length: 12 }, () => createNode(bench.client, passing)));
      const all = send(`POST ${passing.path}/nodes/${verb}`, {});
      const deletions = nodes.slice(6).map((node) => send(`DELETE ${passing.path}/nodes/${node.node_id}`));
      expectStatus(await all, 204);
      for (const reply of await Promise.all(deletions)) expectStatus(reply, 204);
      await bench.client.delete(passing.path);
    });
  }

  test('two deletions: one 204, one 404', async () => {
    const replies = await Promise.all([send(`DELETE ${vm}`), send(`DELETE ${vm}`)]);
    assert.deepEqual(replies.map(({ status }) => status).sort(), [204, 404]);
  });

  test('open, close and open again at once: the project is usable afterwards', async () => {
    const passing = await createProject(bench.client);
    await createNode(bench.client, passing);
    const verbs = ['close', 'open', 'close', 'open'];
    for (const reply of await Promise.all(verbs.map((verb) => send(`POST ${passing.path}/${verb}`))))
      assert.ok(reply.status < 500, reply.text());
    await bench.client.post(`${passing.path}/open`);
    assert.equal((await bench.client.get<NodeBody[]>(`${passing.path}/nodes`)).length, 1);
    await bench.client.delete(passing.path);
  });

  test('two duplications at once, and a deletion of the source meanwhile', async () => {
    const passing = await createProject(bench.client);
    await createNode(bench.client, passing);
    const ask = () => send(`POST ${passing.path}/duplicate`, { name: freshName('copy') });
    const [one, two, deletion] = await Promise.all([ask(), ask(), send(`DELETE ${passing.path}`)]);
    for (const reply of [one, two]) if (reply.status !== 201) expectFault(reply, [404, 409]);
    if (deletion.status !== 204) expectFault(deletion, 409);
    for (const reply of [one, two]) {
      if (reply.status === 201) await bench.client.delete(`/v2/projects/${reply.json().project_id}`);
    }
  });
});

describe('machines that die', () => {
  const kill = async () => {
    const [machine] = machines();
    assert.ok(machine);
    process.kill(machine.pid, 'SIGKILL');
    await waitFor(() => machines().length === 0, { what: 'the end of the machine' });
  };
  const status = async () => (await bench.client.get<NodeBody>(vm)).status;

  test('killed: shown as stopped, stop answers 200, it starts again', async () => {
    await bench.client.post(`${vm}/start`, {}, 200);
    await kill();
    await waitFor(async () => (await status()) === 'stopped', { what: 'the status "stopped"' });
    expectStatus(await send(`POST ${vm}/stop`), 200);
    await bench.client.post(`${vm}/start`, {}, 200);
    assert.equal(await status(), 'started');
    await bench.client.delete(vm);
    assert.deepEqual(machines(), []);
  });

  test('killed in the moment of a stop, suspend, reload or delete: never 500', async () => {
    for (const verb of ['stop', 'suspend', 'reload']) {
      await bench.client.post(`${vm}/start`, {}, 200);
      const [reply] = await Promise.all([send(`POST ${vm}/${verb}`), kill().catch(() => undefined)]);
      if (reply.status !== 200) expectFault(reply, 409);
      await bench.client.post(`${vm}/stop`, {}, 200);
    }
    await bench.client.post(`${vm}/start`, {}, 200);
    const [deletion] = await Promise.all([send(`DELETE ${vm}`), kill().catch(() => undefined)]);
    expectStatus(deletion, 204);
  });

  const dying: [string, RegExp][] = [
    ['-machine nonsense-machine', /nonsense-machine|unsupported machine/],
    ['-device nonsense-device', /nonsense-device/],
    ['-nonsense-option', /nonsense-option/],
    ['-cpu nonsense-cpu', /nonsense-cpu|CPU model/],
  ];
  for (const [options, words] of dying) {
    test(`${options}: 409 with the last words of QEMU, stopped, nothing is left`, async () => {
      const before = await ports();
      await bench.client.put(vm, { properties: { options } });
      expectFault(await send(`POST ${vm}/start`), 409, words);
      assert.equal(await status(), 'stopped');
      assert.deepEqual(machines(), []);
      assert.deepEqual(await ports(), before);
      await bench.client.put(vm, { properties: { options: tinyVm.options } });
      await bench.client.post(`${vm}/start`, {}, 200);
      await bench.client.delete(vm);
    });
  }

  const refused: [string, RegExp][] = [
    ['-drive file=/etc/passwd', /-drive|unsafe/],
    ['-netdev user,id=x', /-netdev|unsafe/],
    ['-daemonize', /daemonize/],
    ['"open quote', /quot/],
  ];
  for (const [options, words] of refused) {
    test(`${options}: refused with 409 before anything runs`, async () => {
      const change = await send(`PUT ${vm}`, { properties: { options } });
      if (change.status === 200) expectFault(await send(`POST ${vm}/start`), 409, words);
      else expectFault(change, [400, 409], words);
      assert.deepEqual(machines(), []);
      await bench.client.delete(vm);
    });
  }
});
