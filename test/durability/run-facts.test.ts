/**
 * Facts that a compute has about the runs of its nodes: with which start, and how the last one ended, also when its server or its
 * host was away.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { RunRecord } from '../../src/compute/store.ts';
import { bootId } from '../../src/lib/boot-clock.ts';
import { DurableMap } from '../../src/lib/durable-map.ts';
import type { ComputeNodeRun } from '../../src/schema/node-runs.ts';
import { processesOf } from '../support/leftovers.ts';
import { waitFor } from '../support/wait-for.ts';
import { idleVm, type NodeBody, withServer } from '../support/with-server.ts';

describe('the list of all nodes of a project at a compute', { timeout: 120_000 }, async () => {
  const { server, client } = await withServer({ stopNodes: false, config: { Qemu: { acceleration: 'off' } } });
  // A project of the controller would have nodes removed that it does not know.
  const { project_id } = await client.post<{ project_id: string }>('/v2/compute/projects', { name: 'runs' });
  const computePath = `/v2/compute/projects/${project_id}`;
  const make = (type: string, body: object) => client.post<NodeBody>(`${computePath}/${type}/nodes`, body);
  const [vm, other] = [await make('qemu', { name: 'VM1', ...idleVm }), await make('qemu', { name: 'VM2', ...idleVm })];
  const hub = await make('ethernet_hub', { name: 'HUB' });
  const act = (verb: 'start' | 'stop', body = {}, { node_id } = vm) =>
    client.post(`${computePath}/qemu/nodes/${node_id}/${verb}`, body, verb === 'start' ? 200 : 204);
  const runs = () => client.get<ComputeNodeRun[]>(`${computePath}/nodes`);
  const runOf = async ({ node_id }: NodeBody) => (await runs()).find((run) => run.node_id === node_id);
  const run = (facts: object, { node_id } = vm) => ({ node_id, node_type: 'qemu', ...facts });
  const pids = () =>
    processesOf(server.dataDir, server.runtimeDirectory)
      .filter(({ commandLine }) => /qemu-system-/.test(commandLine))
      .map(({ pid }) => pid);

  test('has nodes of every kind, those that never ran without facts', async () => {
    assert.deepEqual(await runs(), [
      run({ status: 'stopped' }),
      run({ status: 'stopped' }, other),
      { node_id: hub.node_id, node_type: 'ethernet_hub', status: 'started' },
    ]);
  });

  test('says with which start a node runs, and that it was stopped', async () => {
    await act('start', { generation: 3 });
    assert.deepEqual(await runOf(vm), run({ status: 'started', generation: 3 }));
    await act('stop');
    assert.deepEqual(await runOf(vm), run({ status: 'stopped', generation: 3, ending: 'asked' }));
  });

  test('says that an emulator failed, also when that was while no server ran', async () => {
    await act('start', { generation: 4 });
    for (const pid of pids()) process.kill(pid, 'SIGKILL');
    await waitFor(async () => (await runOf(vm))?.status === 'stopped', { what: 'its end' });
    assert.deepEqual(await runOf(vm), run({ status: 'stopped', generation: 4, ending: 'failed' }));
    await act('start', { generation: 5 });
    await act('start', { generation: 6 }, other);
    await server.kill9();
    for (const pid of pids().slice(0, 1)) process.kill(pid, 'SIGKILL');
    await server.restart();
    const found = await runs();
    assert.deepEqual(
      found
        .slice(0, 2)
        .map(({ status, generation, ending }) => [status, generation, ending])
        .sort(),
      [
        ['started', 6, undefined],
        ['stopped', 5, 'failed'],
      ].sort(),
    );
  });

  test('says that what ran before a boot of the host was lost with it, also while it was being moved', async () => {
    await loseHost(7);
    await loseHost(8, { departed: true });
  });

  async function loseHost(generation: number, more: Pick<RunRecord, 'departed'> = {}): Promise<void> {
    await act('start', { generation });
    await server.kill9();
    for (const pid of pids()) process.kill(pid, 'SIGKILL');
    const journal = await DurableMap.open<RunRecord>(join(server.dataDir, 'state', 'compute.journal'), assert.fail);
    const ran = [...journal.entries()].filter(([, { boot }]) => boot === bootId());
    assert.ok(ran.length > 0);
    for (const [key, value] of ran) {
      await journal.set(key, { ...value, ...more, boot: 'an earlier one' });
    }
    await journal.close();
    await server.restart();
    assert.deepEqual(await runOf(vm), run({ status: 'stopped', generation, ending: 'lost' }));
  }
});
