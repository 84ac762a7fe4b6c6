/**
 * Labs survive an upgrade: a server of commit e7e504bb makes projects and starts machines, is killed, and this version continues on the
 * same data directory. Its machines keep running, its frozen memory can be restored, its projects open.
 */
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { after, describe, test } from 'node:test';
import { Console } from '../../demo/console.ts';
import { ensureGuest } from '../../demo/guest/guest.ts';
import { machineProperties } from '../../demo/topology.ts';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { earlierProgram, noEarlierVersion } from '../support/earlier-version/earlier-version.ts';
import { processesOf } from '../support/leftovers.ts';
import { missingPrograms } from '../support/missing-programs.ts';
import { ping } from '../support/ping.ts';
import { RawClient } from '../support/raw-http.ts';
import { type RunningServer, serverProgram, startServer } from '../support/server.ts';
import { openTelnet, skipHistory } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle } from '../support/with-server.ts';

/** A guest boots in three seconds; on a machine with ten busy processes for each core in a minute. */
const limitMs = 180_000;
const skip = (await noEarlierVersion()) ?? (await missingPrograms(['qemu-system-x86_64', 'qemu-system-x86'], ['vpcs', 'vpcs']));

async function onConsole<T>(node: NodeBody, use: (console: Console) => Promise<T>): Promise<T> {
  const console = await Console.open(node.console as number);
  try {
    return await use(console);
  } finally {
    console.close();
  }
}

/** Types `command` at the guest's shell and returns what it prints, without its echo. */
function ask(node: NodeBody, command: string): Promise<string> {
  return onConsole(node, async (console) => {
    const output = await console.run(`echo "<""$(${command})"">"`, limitMs);
    return [...output.matchAll(/<([^<>"$]*)>/g)].at(-1)?.[1] ?? '';
  });
}

const untilReady = (node: NodeBody) => onConsole(node, (console) => console.expect(/GUEST READY.*# $/s, limitMs));
const untilAnswers = (node: NodeBody, address: string) =>
  waitFor(async () => / 0% packet loss/.test(await ask(node, `ping -c 1 -W 3 ${address} | grep loss`)), {
    what: `an answer of ${address} to ${node.name}`,
    limitMs,
  });

async function pcReaches(pc: NodeBody, address: string): Promise<boolean> {
  const telnet = await openTelnet(pc.console as number);
  try {
    await skipHistory(telnet);
    return await ping({ send: (text) => telnet.send(text), output: () => String(telnet.received()) }, address, 3);
  } finally {
    telnet.close();
  }
}

/** The processes of machines and PCs, by pid. */
const machinesOf = ({ dataDir, runtimeDirectory }: RunningServer) =>
  processesOf(dataDir, runtimeDirectory)
    .filter(({ commandLine }) => /^\S*(qemu-system-\S+|vpcs) /.test(commandLine))
    .map(({ pid }) => pid)
    .sort();

describe('a data directory and running machines of e7e504bb', { skip, timeout: 900_000 }, () => {
  const shared = (async () => {
    if (skip !== undefined) return undefined;
    const config = { Qemu: { acceleration: 'off' } };
    const server = await startServer({ program: await earlierProgram(), stopNodes: false, config });
    return { server, client: new RawClient(server.url), guest: await ensureGuest() };
  })();
  after(async () => {
    const { server, client } = (await shared) ?? {};
    client?.close();
    await server?.stop();
  });
  const parts = async () => {
    const found = await shared;
    assert.ok(found);
    return found;
  };
  const find = async (project: ProjectHandle, name: string) => {
    const { client } = await parts();
    const node = (await client.get<NodeBody[]>(`${project.path}/nodes`)).find((one) => one.name === name);
    assert.ok(node, name);
    return node;
  };
  const machine = async (project: ProjectHandle, name: string, address: string) => {
    const { client, guest } = await parts();
    return createNode(client, project, 'qemu', { name, properties: machineProperties(guest, name, [`${address}/24`]) });
  };
  const made: { open?: ProjectHandle; frozen?: ProjectHandle; closed?: ProjectHandle } = {};

  test('are taken over: machines keep running, links carry frames with their filters, captures are written', async () => {
    const { server, client } = await parts();
    const open = await createProject(client, { auto_close: false });
    const [vm1, vm2] = [await machine(open, 'VM1', '10.0.0.1'), await machine(open, 'VM2', '10.0.0.2')];
    const link = await client.post<{ link_id: string }>(`${open.path}/links`, {
      nodes: [end(vm1), end(vm2)],
      filters: { latency: [40] },
    });
    const sw = await createNode(client, open, 'ethernet_switch', { name: 'SW' });
    for (const [index, name] of ['PC1', 'PC2'].entries()) {
      const properties = { startup_script: `ip 10.1.0.${index + 1}/24\n` };
      const pc = await createNode(client, open, 'vpcs', { name, properties });
      await client.post(`${open.path}/links`, { nodes: [end(pc), end(sw, 0, index)] });
    }
    const idle = await createNode(client, open, 'vpcs', { name: 'stopped' });
    const frozen = await createProject(client, { auto_close: false, on_close: 'freeze' });
    const kept = await machine(frozen, 'VM3', '10.0.0.3');
    const closed = await createProject(client);
    await createNode(client, closed, 'vpcs', { name: 'PC9' });
    await client.post(`${closed.path}/close`, {}, 204);
    await client.post(`${open.path}/nodes/start`, {}, 204);
    await client.post(`${open.path}/nodes/${idle.node_id}/stop`, {}, 200);
    await client.post(`${frozen.path}/nodes/start`, {}, 204);
    for (const node of [vm1, vm2, kept]) await untilReady(node);
    await ask(vm1, 'touch /tmp/before; echo done');
    await ask(kept, 'touch /tmp/kept; echo done');
    await untilAnswers(vm1, '10.0.0.2');
    await client.post<Snapshot>(`${open.path}/snapshots`, { name: 'warm', memory: true });
    await ask(vm1, 'touch /tmp/after; echo done');
    await client.post(`${frozen.path}/close`, {}, 204);
    await waitFor(async () => (await client.get<Snapshot[]>(`${open.path}/snapshots`))[0]?.memory?.status === 'ready', {
      what: 'the end of the freeze',
      limitMs,
    });
    const { capture_file_path: capture } = await client.post<{ capture_file_path: string }>(
      `${open.path}/links/${link.link_id}/start_capture`,
      {},
    );
    Object.assign(made, { open, frozen, closed });

    const before = machinesOf(server);
    assert.ok(before.length >= 4, 'two machines and two PCs run');
    await server.kill9();
    await server.restart(serverProgram);

    await waitFor(async () => (await client.get<Project>(open.path)).status === 'opened', { what: 'the project, opened', limitMs });
    const states = Object.fromEntries(
      (await client.get<NodeBody[]>(`${open.path}/nodes`)).map(({ name, status }) => [name, status]),
    );
    assert.deepEqual(states, { VM1: 'started', VM2: 'started', SW: 'started', PC1: 'started', PC2: 'started', stopped: 'stopped' });
    assert.deepEqual(machinesOf(server), before, 'the same processes');
    assert.equal(await ask(await find(open, 'VM1'), 'ls /tmp/after'), '/tmp/after');
    await untilAnswers(await find(open, 'VM1'), '10.0.0.2');
    assert.equal(await pcReaches(await find(open, 'PC1'), '10.1.0.2'), true, 'PC1 reaches PC2');
    const roundTrip = await ask(
      await find(open, 'VM1'),
      "ping -c 3 -W 3 10.0.0.2 | sed -n 's,.*min/avg/max = \\([0-9]*\\).*,\\1,p'",
    );
    assert.ok(Number(roundTrip) >= 80, `a filter of 40 ms each way is in force: ${roundTrip} ms`);
    const { size } = await stat(capture);
    await untilAnswers(await find(open, 'VM1'), '10.0.0.2');
    await waitFor(async () => (await stat(capture)).size > size, { what: 'more frames in the capture', limitMs });
  });

  test('are started again by this version', async () => {
    const { client } = await parts();
    const { open } = made;
    assert.ok(open);
    for (const name of ['VM1', 'PC1']) {
      const node = await find(open, name);
      await client.post(`${open.path}/nodes/${node.node_id}/stop`, {}, 200);
      await client.post(`${open.path}/nodes/${node.node_id}/start`, {}, 200);
    }
    await untilReady(await find(open, 'VM1'));
    await untilAnswers(await find(open, 'VM1'), '10.0.0.2');
    assert.equal(await pcReaches(await find(open, 'PC1'), '10.1.0.2'), true, 'a PC of this version reaches one of the earlier');
    assert.equal(await pcReaches(await find(open, 'PC2'), '10.1.0.1'), true, 'and the other way');
  });

  test('continue from memory that e7e504bb saved: after a rewind, in a fork, in a frozen project', async () => {
    const { client } = await parts();
    const { open, frozen } = made;
    assert.ok(open && frozen);
    const [snapshot] = await client.get<Snapshot[]>(`${open.path}/snapshots`);
    assert.ok(snapshot);
    await client.post(`${open.path}/snapshots/${snapshot.snapshot_id}/restore`);
    assert.equal(await ask(await find(open, 'VM1'), 'ls /tmp/before /tmp/after 2>/dev/null'), '/tmp/before');
    await untilAnswers(await find(open, 'VM1'), '10.0.0.2');
    const [fork] = await client.post<Project[]>(`${open.path}/snapshots/${snapshot.snapshot_id}/fork`, { count: 1 });
    assert.ok(fork);
    const copy = { ...open, id: fork.project_id, path: `/v2/projects/${fork.project_id}` };
    assert.equal(await ask(await find(copy, 'VM1'), 'ls /tmp/before /tmp/after 2>/dev/null'), '/tmp/before');
    await untilAnswers(await find(copy, 'VM1'), '10.0.0.2');
    await client.post(`${frozen.path}/open`);
    await waitFor(async () => (await find(frozen, 'VM3')).status === 'started', { what: 'the frozen machine', limitMs });
    assert.equal(await ask(await find(frozen, 'VM3'), 'ls /tmp/kept'), '/tmp/kept');
    await client.delete(copy.path);
  });

  test('can be closed, opened and deleted; nothing is left', async () => {
    const { server, client } = await parts();
    const { open, frozen, closed } = made;
    assert.ok(open && frozen && closed);
    await client.post(`${closed.path}/open`);
    assert.equal((await find(closed, 'PC9')).status, 'stopped');
    for (const { path } of [open, frozen, closed]) await client.delete(path);
    await waitFor(() => machinesOf(server).length === 0, { what: 'the end of all machines', limitMs });
  });
});
