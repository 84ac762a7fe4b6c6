/** Nodes: names, changes, status, and that nothing is left of what was refused. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, mock } from 'node:test';
import { waitFor } from '../../../../test/support/wait-for.ts';
import { refusal, withController } from '../../../../test/support/with-controller.ts';
import { fault } from '../../../api/faults.ts';
import type { NodeObject } from '../../model/node.ts';

describe('nodes', () => {
  const bench = withController();
  it('are made with names of their own, also at the same time', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => bench.addNode('PC{0}')));
    assert.equal(new Set(made.map((node) => node.name)).size, 20);
    assert.equal(bench.actions().filter((action) => action === 'node.created').length, 20);
  });

  it('that are refused leave nothing: name, node, event', async () => {
    bench.compute.refused.add('/vpcs/nodes');
    await assert.rejects(bench.addNode('PC1'), refusal('node_failed'));
    bench.compute.refused.clear();
    assert.deepEqual([(await bench.addNode('PC1')).name, bench.compute.nodes.size, bench.actions()], ['PC1', 1, ['node.created']]);
  });

  it('show their status at once, tell it once, and are not logged for it', async () => {
    const node = await bench.addNode('PC1');
    bench.seen = [];
    const started = await bench.inProject<NodeObject>(`POST /nodes/${node.node_id}/start`);
    assert.equal(started.status, 'started');
    assert.deepEqual(bench.actions(), ['node.updated']);
    bench.compute.tell(node.node_id, { status: 'stopped' });
    assert.equal((await bench.inProject<NodeObject>(`GET /nodes/${node.node_id}`)).status, 'stopped');
    const log = await readFile(join(bench.project.path, `${bench.project.filename}.log`), 'utf8');
    assert.equal(log.match(/"node\.updated"/g), null);
  });

  it('say of a start or stop without an answer that it stays wanted, where that is so', async () => {
    const { node_id } = await bench.addNode('PC1');
    const live = await bench.controller.projects.get(bench.project.project_id).live();
    const messageOf = async (verb: string) => {
      const silent = mock.method(live.nodes.get(node_id).transport, 'call', async () => {
        throw fault('compute_unreachable', { name: 'one', request: 'x', reason: 'no answer' });
      });
      const answer = bench.inProject(`POST /nodes/${node_id}/${verb}`);
      const message = await answer.then(String, (error: Error) => error.message);
      silent.mock.restore();
      return message;
    };
    assert.match(await messageOf('start'), /no answer\. The node is started as soon as its compute answers$/);
    const isStarted = async () => (await bench.inProject<NodeObject>(`GET /nodes/${node_id}`)).status === 'started';
    await waitFor(isStarted, { what: 'the node, started' });
    // This compute does not list by which starts its nodes run.
    assert.match(await messageOf('stop'), /no answer$/);
  });

  it('that end before the answer to their start arrives are shown as stopped', async () => {
    const node = await bench.addNode('PC1');
    bench.compute.areShortLived = true;
    const started = await bench.inProject<NodeObject>(`POST /nodes/${node.node_id}/start`);
    assert.equal(started.status, 'stopped');
    assert.equal((await bench.inProject<NodeObject>(`GET /nodes/${node.node_id}`)).status, 'stopped');
  });

  it('whose start failed say why, until it is tried again with success or their user has stopped them', async () => {
    const { node_id } = await bench.addNode('PC1');
    const node = () => bench.inProject<NodeObject>(`GET /nodes/${node_id}`);
    for (const verb of ['start', 'stop']) {
      await bench.inProject(`POST /nodes/${node_id}/start`);
      bench.compute.refused.add('/start');
      bench.compute.tell(node_id, { status: 'stopped', interrupted: true });
      const isShown = async () => /^Not started: .* \(since .* UTC, tried once\)$/.test((await node()).command_line ?? '');
      await waitFor(isShown, { what: 'the reason', everyMs: 20 });
      const [problem] = await bench.inProject<{ id: string; message: string }[]>('GET /problems');
      assert.deepEqual([problem?.id, `Not started: ${problem?.message}`], [node_id, (await node()).command_line]);
      bench.compute.refused.clear();
      await bench.inProject(`POST /nodes/${node_id}/${verb}`);
      assert.doesNotMatch(String((await node()).command_line), /Not started/);
      assert.deepEqual(await bench.inProject('GET /problems'), []);
    }
  });

  it('keep their console type when null is asked for, which stands for no choice', async () => {
    const { node_id, console_type } = await bench.addNode('PC1');
    const updated = await bench.inProject<NodeObject>(`PUT /nodes/${node_id}`, { console_type: null });
    assert.deepEqual([console_type, updated.console_type], ['telnet', 'telnet']);
  });

  it('take a port that their compute reports, durably', async () => {
    const node = await bench.addNode('PC1');
    bench.compute.tell(node.node_id, { console: 7777 });
    // The change is made when nothing else is done with the node: a request for it comes after.
    await bench.inProject(`PUT /nodes/${node.node_id}`, { x: 3 });
    await bench.restart();
    const [found] = await bench.inProject<NodeObject[]>('GET /nodes');
    assert.deepEqual([found?.console, found?.x], [7777, 3]);
  });

  it('move without a request to the compute; what did not change is not announced', async () => {
    const node = await bench.addNode('PC1');
    bench.compute.calls.length = 0;
    bench.seen = [];
    const moved = await bench.inProject<NodeObject>(`PUT /nodes/${node.node_id}`, { ...node, x: 5, status: 'started', width: 1 });
    assert.deepEqual(
      [moved.x, moved.status, moved.width, bench.compute.calls, bench.actions()],
      [5, 'stopped', 65, [], ['node.updated']],
    );
    await bench.inProject(`PUT /nodes/${node.node_id}`, { x: 5, properties: {} });
    assert.equal(bench.seen.length, 1);
  });

  it('are renamed: the label follows, the old name is free, a taken one is numbered', async () => {
    const [one, other] = [await bench.addNode('PC1'), await bench.addNode('PC2')];
    const renamed = await bench.inProject<NodeObject>(`PUT /nodes/${one.node_id}`, { name: 'PC2', label: { text: 'x', x: 3 } });
    assert.deepEqual([renamed.name, renamed.label], ['PC1', { text: 'PC1', x: 3 }]);
    await bench.inProject(`PUT /nodes/${other.node_id}`, { name: 'R1' });
    assert.equal((await bench.addNode('PC2')).name, 'PC2');
    assert.equal(bench.compute.nodes.get(other.node_id)?.name, 'R1');
  });

  it('are deleted with their links, and each deletion is announced once', async () => {
    const [one, other] = [await bench.addNode('PC1'), await bench.addNode('PC2')];
    await bench.addLink(one, other);
    bench.seen = [];
    await bench.inProject(`DELETE /nodes/${one.node_id}`);
    assert.deepEqual(bench.actions(), ['link.deleted', 'node.deleted']);
    assert.deepEqual(
      [bench.compute.nodes.size, bench.compute.nios.size, await bench.inProject('GET /stats')],
      [1, 0, { drawings: 0, links: 0, nodes: 1, snapshots: 0 }],
    );
    await bench.restart();
    assert.equal((await bench.inProject<NodeObject[]>('GET /nodes')).length, 1);
  });

  it('whose compute cannot be reached stay, and so do their links', async () => {
    const [one, other] = [await bench.addNode('PC1'), await bench.addNode('PC2')];
    await bench.addLink(one, other);
    const { transport } = bench.controller.computes.local;
    const cut = mock.method(transport, 'connect', async () => {
      throw fault('compute_unreachable', { name: 'one', request: 'x', reason: 'no answer' });
    });
    await assert.rejects(bench.inProject(`DELETE /nodes/${one.node_id}`), refusal('compute_unreachable'));
    cut.mock.restore();
    assert.deepEqual(await bench.inProject('GET /stats'), { drawings: 0, links: 1, nodes: 2, snapshots: 0 });
  });

  it('that are locked stay', async () => {
    const node = await bench.addNode('PC1', { locked: true });
    await assert.rejects(bench.inProject(`DELETE /nodes/${node.node_id}`), refusal('node_locked'));
  });

  it('are made again, with their links, where a request to close the project came late to their compute', async () => {
    const [one, other] = [await bench.addNode('PC1'), await bench.addNode('PC2')];
    await bench.addLink(one, other);
    const { projects, nodes, nios } = bench.compute;
    for (const state of [projects, nodes, nios]) state.clear();
    // The first start finds that the node is gone.
    for (const { node_id } of [one, other])
      await bench.inProject(`POST /nodes/${node_id}/start`).catch(() => bench.inProject(`POST /nodes/${node_id}/start`));
    assert.deepEqual([[...nodes.values()].map(({ status }) => status), nios.size], [['started', 'started'], 2]);
  });

  it('are all attempted, then one error is reported', async () => {
    const nodes = [await bench.addNode('PC1'), await bench.addNode('PC2'), await bench.addNode('PC3')];
    bench.compute.nodes.delete(nodes[0]?.node_id ?? '');
    await assert.rejects(bench.inProject('POST /nodes/start'), refusal('node_not_found'));
    assert.deepEqual(
      (await bench.inProject<NodeObject[]>('GET /nodes')).map((node) => node.status),
      ['stopped', 'started', 'started'],
    );
  });
});
