/** Links: both ends or none, also when a compute or the disk refuses. */
import assert from 'node:assert/strict';
import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { end, refusal, withController } from '../../../../test/support/with-controller.ts';
import { type FaultCode, isFault } from '../../../api/faults.ts';
import type { Link } from '../../../schema/link.ts';
import type { NodeObject } from '../../model/node.ts';

describe('links', () => {
  const bench = withController();
  let one: NodeObject;
  let other: NodeObject;
  beforeEach(async () => {
    [one, other] = [await bench.addNode('PC1'), await bench.addNode('PC2')];
    bench.seen = [];
  });

  it('join both ends, with the filters at the first', async () => {
    const link = await bench.addLink(one, other, { filters: { delay: [10, 0], packet_loss: [0] }, suspend: true });
    assert.deepEqual([link.filters, link.suspend, link.nodes[0]?.label?.text], [{ delay: [10, 0] }, true, '0/0']);
    const [a, b] = [bench.compute.nios.get(`${one.node_id}/0/0`), bench.compute.nios.get(`${other.node_id}/0/0`)];
    assert.deepEqual([a?.filters, b?.filters, a?.suspend, b?.suspend], [{ delay: [10, 0] }, {}, true, true]);
    assert.deepEqual([a?.lport, a?.rport, a?.rhost], [b?.rport, b?.lport, '127.0.0.1']);
    assert.deepEqual(bench.actions(), ['link.created']);
  });

  const refusals: [string, () => unknown, FaultCode][] = [
    ['no ends', () => ({}), 'link_ends'],
    ['three ends', () => ({ nodes: [end(one), end(other), end(one)] }), 'link_ends'],
    ['one node twice', () => ({ nodes: [end(one), end(one, 1)] }), 'link_itself'],
    ['an unknown node', () => ({ nodes: [end(one), { ...end(other), node_id: bench.project.project_id }] }), 'node_not_found'],
    ['an unknown port', () => ({ nodes: [end(one), end(other, 9)] }), 'port_not_found'],
    ['an unknown filter', () => ({ nodes: [end(one), end(other)], filters: { nonsense: [1] } }), 'filter_invalid'],
  ];
  for (const [what, body, code] of refusals) {
    it(`are refused with ${what}, and nothing is left`, async () => {
      await assert.rejects(bench.inProject('POST /links', body()), refusal(code));
      assert.deepEqual([bench.compute.nios.size, bench.actions(), await bench.inProject('GET /links')], [0, [], []]);
      await bench.addLink(one, other);
    });
  }

  it('to the same port at once: one is made', async () => {
    const third = await bench.addNode('PC3');
    const results = await Promise.allSettled([bench.addLink(one, other), bench.addLink(other, third), bench.addLink(third, one)]);
    const refused = results.filter((result) => result.status === 'rejected');
    assert.equal(refused.length, 2);
    for (const { reason } of refused) assert.ok(isFault(reason, 'port_taken'));
    assert.equal(bench.compute.nios.size, 2);
  });

  it('that one end refuses are reverted, and no UDP port is lost', async () => {
    const ports = bench.compute.udpPort;
    bench.compute.refused.add('/nio');
    await assert.rejects(bench.addLink(one, other), refusal('node_failed'));
    bench.compute.refused.clear();
    assert.equal(bench.compute.nios.size, 0);
    await bench.addLink(one, other);
    assert.equal(bench.compute.udpPort, ports + 2);
  });

  it('with an end on a compute that is not registered are deleted, and leave nothing at the other end', async () => {
    const { link_id } = await bench.addLink(one, other);
    const live = await bench.controller.projects.get(bench.project.project_id).live();
    live.nodes.get(one.node_id).compute = undefined;
    await bench.inProject(`DELETE /links/${link_id}`);
    assert.equal(bench.compute.nios.has(`${other.node_id}/0/0`), false);
  });

  it('whose node was to move, and stays, are joined as before', async () => {
    await bench.addLink(one, other);
    const nios = () => [one, other].map(({ node_id }) => bench.compute.nios.get(`${node_id}/0/0`));
    const before = nios();
    const live = await bench.controller.projects.get(bench.project.project_id).live();
    const node = live.nodes.get(one.node_id);
    const move = async () => {
      const moving = await live.linkMoves.prepare(node, node);
      await moving.switch();
      assert.notDeepEqual(nios(), before);
      return moving;
    };
    await (await move()).revert();
    assert.deepEqual(nios(), before);
    // A server that was killed in the switch finds this state.
    await move();
    await live.linkRecovery.rejoin(one.node_id);
    assert.deepEqual(nios(), before);
  });

  it('take a whole link back, and only what may be changed is', async () => {
    const link = await bench.addLink(one, other);
    bench.seen = [];
    await bench.inProject(`PUT /links/${link.link_id}`, link);
    assert.deepEqual(bench.seen, []);
    const nodes = [
      { ...end(other), label: { text: 'right' } },
      { ...end(one, 7), label: { text: 'nowhere' } },
    ];
    const changed = await bench.inProject<Link>(`PUT /links/${link.link_id}`, {
      filters: { packet_loss: [3] },
      nodes,
      suspend: true,
      capturing: true,
    });
    assert.deepEqual(
      changed.nodes.map(({ label }) => label?.text),
      ['0/0', 'right'],
    );
    assert.deepEqual([changed.filters, changed.suspend, changed.capturing], [{ packet_loss: [3] }, true, false]);
    assert.deepEqual(bench.compute.nios.get(`${one.node_id}/0/0`)?.filters, { packet_loss: [3] });
    assert.deepEqual(bench.actions(), ['link.updated']);
  });

  it('keep their filters when a compute refuses new ones', async () => {
    const link = await bench.addLink(one, other, { filters: { delay: [1] } });
    bench.compute.refused.add('PUT /projects/{project_id}/vpcs/nodes/{node_id}/adapters/{adapter_number}/ports/{port_number}/nio');
    await assert.rejects(bench.inProject(`PUT /links/${link.link_id}`, { filters: { delay: [2] } }), refusal('node_failed'));
    assert.deepEqual((await bench.inProject<Link>(`GET /links/${link.link_id}`)).filters, { delay: [1] });
  });

  it('that one end refuses are reported to all listeners, with the ends that were tried', async () => {
    bench.compute.refused.add('/nio');
    await assert.rejects(bench.addLink(one, other), refusal('node_failed'));
    const [{ action, event } = {}, ...others] = bench.seen;
    assert.deepEqual([action, others], ['failure.reported', []]);
    const { nodes, message, code } = event as { nodes: object[]; message: string; code: string };
    assert.deepEqual([nodes, code], [[end(one), end(other)], 'node_failed']);
    assert.match(message, /refused/);
  });

  it('that could not be made when the project was opened are made by a request, and listeners are notified of the end of the failure', async () => {
    const { link_id } = await bench.addLink(one, other);
    await bench.inProject('POST /close');
    bench.compute.refused.add('/nio');
    await bench.inProject('POST /open');
    const reported = bench.seen.filter(({ action }) => action === 'failure.reported');
    assert.deepEqual(
      reported.map(({ event }) => (event as { link_id: string }).link_id),
      [link_id],
    );
    await assert.rejects(bench.inProject(`POST /links/${link_id}/reconnect`), refusal('node_failed'));
    bench.compute.refused.clear();
    bench.seen = [];
    assert.equal((await bench.inProject<Link>(`POST /links/${link_id}/reconnect`)).link_id, link_id);
    assert.deepEqual(bench.seen.find(({ action }) => action === 'failure.ended')?.event, { link_id });
    assert.equal(bench.compute.nios.size, 2);
    assert.deepEqual(await bench.inProject('GET /problems'), []);
    bench.seen = [];
    await bench.inProject(`POST /links/${link_id}/reconnect`);
    assert.deepEqual(bench.seen, []);
  });

  it('that were removed at one end, as the other had no space for it, are whole again once there is some', async () => {
    const link = await bench.addLink(one, other, { filters: { delay: [1] } });
    const isWhole = () => [one, other].every(({ node_id }) => bench.compute.nios.has(`${node_id}/0/0`));
    const live = await bench.controller.projects.get(bench.project.project_id).live();
    const removeHalf = async () => {
      bench.compute.isFull = (request, { node_id }) => request.endsWith('/nio') && node_id === other.node_id;
      await assert.rejects(bench.inProject(`DELETE /links/${link.link_id}`), refusal('storage_failed'));
      assert.deepEqual([isWhole(), live.linkRecovery.problems().length, await live.linkRecovery.retry()], [false, 1, false]);
      bench.compute.isFull = () => false;
    };
    await removeHalf();
    assert.deepEqual([await live.linkRecovery.retry(), isWhole(), live.linkRecovery.problems()], [true, true, []]);
    await removeHalf();
    // A change need not wait for it.
    await bench.inProject(`PUT /links/${link.link_id}`, { filters: { delay: [2] } });
    assert.deepEqual([isWhole(), live.linkRecovery.problems()], [true, []]);
    assert.deepEqual(bench.compute.nios.get(`${one.node_id}/0/0`)?.filters, { delay: [2] });
  });

  it('that were refused, and could not be removed, are removed once there is space; their ports are free then', async () => {
    const live = await bench.controller.projects.get(bench.project.project_id).live();
    await live.writeSnapshot();
    await bench.inProject('POST /close');
    const log = join(bench.project.path, `${bench.project.filename}.log`);
    await rm(log);
    await symlink('/dev/full', log);
    await bench.inProject('POST /open');
    const { linkRecovery } = await bench.controller.projects.get(bench.project.project_id).live();
    bench.compute.isFull = (request) => request.startsWith('DELETE ') && request.endsWith('/nio');
    await assert.rejects(bench.addLink(one, other), refusal('storage_failed'));
    assert.deepEqual([await linkRecovery.retry(), bench.compute.nios.size], [false, 2]);
    await assert.rejects(bench.addLink(one, other), refusal('port_taken'));
    bench.compute.isFull = () => false;
    assert.deepEqual([await linkRecovery.retry(), bench.compute.nios.size], [true, 0]);
    await assert.rejects(bench.addLink(one, other), refusal('storage_failed'));
  });

  it('are the same for the compute after the server died: ports, filters, suspension', async () => {
    await bench.addLink(one, other, { filters: { delay: [10] }, suspend: true });
    const before = structuredClone([...bench.compute.nios]);
    const ports = bench.compute.udpPort;
    await bench.inProject(`POST /nodes/${one.node_id}/start`);
    // The compute is not notified: as after SIGKILL, but for the files' handles.
    await bench.restart();
    const nodes = await bench.inProject<NodeObject[]>('GET /nodes');
    assert.deepEqual([nodes[0]?.status, [...bench.compute.nios], bench.compute.udpPort], ['started', before, ports]);
  });

  it('are the same after a crash that follows an opening', async () => {
    await bench.addLink(one, other);
    await bench.inProject('POST /close');
    await bench.inProject('POST /open');
    const before = structuredClone([...bench.compute.nios]);
    const file = join(bench.project.path, bench.project.filename);
    // Files as they are on disk while the project is open, and after SIGKILL.
    const kept = [await readFile(file), await readFile(`${file}.log`)] as const;
    await bench.restart(async () => {
      await writeFile(file, kept[0]);
      await writeFile(`${file}.log`, kept[1]);
    });
    await bench.inProject('GET /links');
    assert.deepEqual([...bench.compute.nios], before);
  });

  it('come back with filters and suspension when the project is closed and opened', async () => {
    const filters = { bandwidth_ba: [64, 0], delay: [10], seed: [7] };
    await bench.addLink(one, other, { filters, suspend: true });
    await bench.inProject('POST /close');
    assert.equal(bench.compute.nios.size, 0);
    const [stored] = await bench.inProject<Link[]>('GET /links');
    assert.deepEqual([stored?.suspend, stored?.capturing, stored?.filters], [true, false, filters]);
    await bench.inProject('POST /open');
    const nio = bench.compute.nios.get(`${one.node_id}/0/0`);
    assert.deepEqual([nio?.suspend, nio?.filters], [true, filters]);
  });

  it('that cannot be written are not made', async () => {
    const live = await bench.controller.projects.get(bench.project.project_id).live();
    await live.writeSnapshot();
    await bench.inProject('POST /close');
    await rm(join(bench.project.path, `${bench.project.filename}.log`));
    await symlink('/dev/full', join(bench.project.path, `${bench.project.filename}.log`));
    await bench.inProject('POST /open');
    await assert.rejects(bench.addLink(one, other), refusal('storage_failed'));
    assert.deepEqual([bench.compute.nios.size, await bench.inProject('GET /links')], [0, []]);
    await assert.rejects(bench.inProject(`DELETE /nodes/${one.node_id}`), refusal('storage_failed'));
    await assert.rejects(bench.inProject(`PUT /nodes/${one.node_id}`, { x: 9 }), refusal('storage_failed'));
    assert.deepEqual([bench.compute.nodes.size, (await bench.inProject<NodeObject>(`GET /nodes/${one.node_id}`)).x], [2, 0]);
  });
});
