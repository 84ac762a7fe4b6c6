/** Loops of switches with real PCs: the storm is noticed, the links to suspend are named, and what has no loop has no storm. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import { Pc } from '../support/pc.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  createNode,
  createProject,
  end,
  freshName,
  type NodeBody,
  type ProjectHandle,
  withServer,
} from '../support/with-server.ts';

const { client } = await withServer();
let project: ProjectHandle;
let pcs: [Pc, Pc, Pc, Pc];
before(async () => {
  project = await createProject(client);
  pcs = [
    await Pc.make(client, project, 1),
    await Pc.make(client, project, 2),
    await Pc.make(client, project, 3),
    await Pc.make(client, project, 4),
  ];
  await link(end(pcs[2].node), end(pcs[3].node));
  await client.post(`${project.path}/nodes/start`, {}, 204);
});
after(() => {
  for (const pc of pcs ?? []) pc.close();
});

const link = async (one: object, other: object) =>
  (await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [one, other] })).link_id;
const linkPath = (id: string) => `${project.path}/links/${id}`;
const suspend = async (id: string) => expectStatus(await client.send(`PUT ${linkPath(id)}`, { body: { suspend: true } }), 201);
const stormy = async () => (await client.get<LinkStats[]>(`${project.path}/link_stats`)).filter(({ storm }) => storm);
const closers = async () => (await stormy()).flatMap(({ link_id, storm }) => (storm?.closes_loop ? link_id : []));
const dropped = async (node: NodeBody, cause: string) => {
  const ports = await client.get<{ dropped: Record<string, number> }[]>(`${project.path}/nodes/${node.node_id}/port_stats`);
  return ports.reduce((sum, port) => sum + (port.dropped[cause] ?? 0), 0);
};

/** Two switches or hubs with so many links between them, and a PC at the last port of each. */
async function pair(type: string, loops: number, properties: Record<string, unknown> = {}) {
  const [one, other] = [
    await createNode(client, project, type, { properties }),
    await createNode(client, project, type, { properties }),
  ];
  const between: string[] = [];
  for (let port = 0; port < loops; port++) between.push(await link(end(one, 0, port), end(other, 0, port)));
  const leaves = [await link(end(pcs[0].node), end(one, 0, 7)), await link(end(pcs[1].node), end(other, 0, 7))];
  const remove = async () => {
    for (const { node_id } of [one, other]) await client.delete(`${project.path}/nodes/${node_id}`);
  };
  return { nodes: [one, other] as const, between, leaves, remove };
}

describe('a loop', () => {
  for (const type of ['ethernet_switch', 'ethernet_hub']) {
    test(`of two nodes of kind ${type} with three links: two are named, and the storm ends without them`, async () => {
      const { between, leaves, remove } = await pair(type, 3);
      void pcs[0].reaches(pcs[1]);
      const storm = await waitFor(async () => ((await closers()).length === 2 ? stormy() : undefined), { what: 'a storm' });
      const named = storm.flatMap(({ link_id, storm: found }) => (found?.closes_loop ? link_id : []));
      assert.ok(named.every((id) => between.includes(id)));
      const loops = storm.flatMap(({ link_id, storm: found }) => (found?.in_loop ? link_id : []));
      assert.deepEqual(loops.toSorted(), between.toSorted());
      assert.ok(
        storm.every(({ link_id }) => [...between, ...leaves].includes(link_id)),
        'links elsewhere carry none',
      );
      const [first = '', second = ''] = named;
      const { storm: alone } = await client.get<LinkStats>(`${linkPath(first)}/stats`);
      assert.equal(alone?.closes_loop, true);
      assert.ok(alone.returned_frames > 0 && alone.returned_per_second >= 10);
      const metrics = (await client.send('GET /metrics')).text();
      assert.match(metrics, new RegExp(`patchbay_link_storm_frames_per_second\\{.*link_id="${first}",closes_loop="true"\\} \\d`));
      assert.ok(await pcs[2].reaches(pcs[3]), 'a link beside the storm');

      await suspend(first);
      assert.deepEqual(await waitFor(async () => ((await closers()).length === 1 ? closers() : undefined), { what: 'one left' }), [
        second,
      ]);
      await suspend(second);
      await waitFor(async () => (await stormy()).length === 0, { what: 'the end of the storm' });
      assert.ok(await pcs[0].reaches(pcs[1]), 'the lab works without the loop');
      assert.deepEqual(await stormy(), []);
      await remove();
    });
  }

  test('is none where each VLAN has a link of its own, nor in a healthy lab with broadcasts', async () => {
    const port = (vlan: number) => ({ name: 'x', port_number: 0, type: 'access', vlan });
    const ports_mapping = [10, 20, 30, 1, 1, 1, 1, 10].map(port);
    const { remove } = await pair('ethernet_switch', 3, { ports_mapping });
    for (let round = 0; round < 3; round++) {
      assert.ok(await pcs[0].reaches(pcs[1]));
      assert.deepEqual(await stormy(), []);
    }
    await remove();
  });
});

describe('the limits of a switch', () => {
  test('are off, are set and taken away, and are not lost by a change of ports', async () => {
    const node = await createNode(client, project, 'ethernet_switch');
    const path = `${project.path}/nodes/${node.node_id}`;
    const put = async (properties: object) => (await client.put<NodeBody>(path, { properties })).properties;
    assert.deepEqual(Object.keys(node.properties), ['ports_mapping']);
    const limits = { broadcast_limit: 100, multicast_limit: 0, unknown_unicast_limit: 10_000_000 };
    const { ports_mapping, ...set } = await put(limits);
    assert.deepEqual(set, limits);
    assert.equal((await put({ ports_mapping })).broadcast_limit, 100);
    const { ports_mapping: _, ...rest } = await put({ multicast_limit: null, unknown_unicast_limit: null });
    assert.deepEqual(rest, { broadcast_limit: 100, multicast_limit: null, unknown_unicast_limit: null });
    const before = (await client.get<NodeBody>(path)).properties;
    for (const wrong of [-1, 1.5, 10_000_001, 'five', []]) {
      expectFault(await client.send(`PUT ${path}`, { body: { properties: { broadcast_limit: wrong } } }), 400, /broadcast_limit/);
      const body = {
        name: freshName('S'),
        node_type: 'ethernet_switch',
        compute_id: 'local',
        properties: { multicast_limit: wrong },
      };
      expectFault(await client.send(`POST ${project.path}/nodes`, { body }), 400, /multicast_limit/);
    }
    assert.deepEqual((await client.get<NodeBody>(path)).properties, before);
    expectStatus(await client.send(`DELETE ${path}`), 204);
  });

  test('bound a loop, count the frames that they take, and leave it in sight', async () => {
    const { nodes, remove } = await pair('ethernet_switch', 3, { broadcast_limit: 50, multicast_limit: 50 });
    const absent = { address: '10.0.0.99' } as Pc;
    assert.equal(await pcs[0].reaches(absent), false, 'no station answers, so each question is a broadcast');
    const counts = await Promise.all(nodes.map((node) => dropped(node, 'storm_control')));
    assert.ok(counts.every((count) => count > 0));
    const [loop] = await waitFor(async () => ((await closers()).length === 2 ? stormy() : undefined), { what: 'the loop' });
    // Each direction gets what two links and a PC bring: 50 frames of either kind each. Without limits there are some 100,000.
    assert.ok(loop?.directions.every(({ last_second }) => last_second.frames_per_second < 1000));
    await remove();
  });
});
