/** Links of a project: fields, creation, refusals, changes. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';
import { assertShape, linkEndShape, linkShape } from './shapes.ts';

interface LinkBody {
  link_id: string;
  project_id: string;
  nodes: { node_id: string; label: { text: string; style: string } }[];
  suspend: boolean;
  filters: Record<string, unknown[]>;
  [key: string]: unknown;
}

const bench = await withServer();
let project: ProjectHandle;
let one: NodeBody;
let other: NodeBody;
before(async () => {
  project = await createProject(bench.client);
  [one, other] = await pair();
});

async function pair(): Promise<[NodeBody, NodeBody]> {
  return Promise.all([createNode(bench.client, project), createNode(bench.client, project)]);
}
const links = () => bench.client.get<LinkBody[]>(`${project.path}/links`);
const create = async (body: Record<string, unknown> = {}) => {
  const [a, b] = await pair();
  return bench.client.post<LinkBody>(`${project.path}/links`, { nodes: [end(a), end(b)], ...body });
};

describe('GET links', () => {
  test('a project without links gives an empty array', async () => {
    const empty = await createProject(bench.client);
    assert.deepEqual(await bench.client.get(`${empty.path}/links`), []);
  });

  test('every link has every field of the table, its ends have labels with text and style', async () => {
    const { link_id } = await create();
    const found = (await links()).find((link) => link.link_id === link_id);
    assertShape(found, linkShape, 'link');
    assert.equal(found?.nodes.length, 2);
    for (const side of found?.nodes ?? []) {
      assertShape(side, linkEndShape, 'end');
      assert.equal(side.label.text, '0/0');
      assert.match(side.label.style, /\S/);
    }
  });

  test('a label created without style has one in lists only', async () => {
    const [a, b] = await pair();
    const nodes = [
      { ...end(a), label: { text: 'left', x: 3 } },
      { ...end(b), label: { text: 'right', style: null } },
    ];
    const { link_id } = await bench.client.post<LinkBody>(`${project.path}/links`, { nodes });
    const style = 'font-family: TypeWriter;font-size: 10.0;font-weight: bold;fill: #000000;fill-opacity: 1.0;';
    const whole = [
      { style, text: 'left', x: 3 },
      { style, text: 'right' },
    ];
    const ofNode = await bench.client.get<LinkBody[]>(`${project.path}/nodes/${a.node_id}/links`);
    for (const list of [await links(), ofNode]) {
      const found = list.find((link) => link.link_id === link_id);
      assert.deepEqual(
        found?.nodes.map(({ label }) => label),
        whole,
      );
    }
    assert.deepEqual((await bench.client.get<LinkBody>(`${project.path}/links/${link_id}`)).nodes, nodes);
  });

  test('of a closed project: every field too, and the same objects as before', async () => {
    const lab = await createProject(bench.client);
    const ends = await Promise.all([createNode(bench.client, lab), createNode(bench.client, lab)]);
    await bench.client.post(`${lab.path}/links`, {
      nodes: ends.map((node) => end(node)),
      filters: { latency: [3] },
      suspend: true,
    });
    const relays = await Promise.all(
      [{ '1:101': '2:201' }, { '5:105': '6:206' }].map((mappings) =>
        createNode(bench.client, lab, 'frame_relay_switch', { properties: { mappings } }),
      ),
    );
    await bench.client.post(`${lab.path}/links`, { nodes: relays.map((node, index) => end(node, 0, [1, 5][index])) });
    const before = await bench.client.get<LinkBody[]>(`${lab.path}/links`);
    assert.deepEqual(
      before.map((link) => link.link_type),
      ['ethernet', 'serial'],
    );
    await bench.client.post(`${lab.path}/close`, {}, 204);
    assert.deepEqual(await bench.client.get(`${lab.path}/links`), before);
  });

  test('GET of one link is the same object; unknown link and project are 404', async () => {
    const link = await create();
    assert.deepEqual(await bench.client.get(`${project.path}/links/${link.link_id}`), link);
    expectFault(await bench.client.send(`GET ${project.path}/links/${randomUUID()}`), 404);
    expectFault(await bench.client.send(`GET /v2/projects/${randomUUID()}/links`), 404);
  });
});

describe('POST links', () => {
  test('only nodes: 201 with the link and its defaults', async () => {
    const link = await create();
    assertShape(link, linkShape, 'link');
    assert.equal(link.project_id, project.id);
    assert.equal(link.link_type, 'ethernet');
    assert.deepEqual([link.suspend, link.capturing, link.filters], [false, false, {}]);
    assert.deepEqual([link.capture_compute_id, link.capture_file_name, link.capture_file_path], [null, null, null]);
  });

  test('filters, suspend, link_style and labels take effect', async () => {
    const label = { text: 'left', style: 'fill: #ff0000;', x: -7, y: 12 };
    const [a, b] = await pair();
    const link = await bench.client.post<LinkBody>(`${project.path}/links`, {
      filters: { latency: [10], frequency_drop: [50] },
      link_style: { color: '#00ff00', width: 2 },
      nodes: [{ ...end(a), label }, end(b)],
      suspend: true,
    });
    assert.deepEqual(link.filters, { latency: [10], frequency_drop: [50] });
    assert.equal(link.suspend, true);
    assert.deepEqual(link.link_style, { color: '#00ff00', width: 2 });
    assert.deepEqual(link.nodes[0]?.label, label);
    assert.deepEqual(await bench.client.get(`${project.path}/links/${link.link_id}`), link);
  });

  test('the whole read-only part of a link may be sent and is ignored', async () => {
    const link_id = randomUUID();
    const link = await create({
      capture_compute_id: 'x',
      capture_file_name: 'y',
      capture_file_path: '/z',
      capturing: true,
      link_id,
      link_type: 'serial',
      project_id: randomUUID(),
    });
    assert.notEqual(link.link_id, link_id);
    assert.equal(link.project_id, project.id);
    assert.deepEqual([link.capturing, link.link_type, link.capture_file_name], [false, 'ethernet', null]);
  });

  const refusals: [string, () => unknown, number, RegExp][] = [
    ['no nodes', () => ({}), 400, /two ends/],
    ['no end', () => ({ nodes: [] }), 400, /two ends/],
    ['one end', () => ({ nodes: [end(one)] }), 400, /two ends/],
    ['three ends', () => ({ nodes: [end(one), end(other), end(one)] }), 400, /two ends/],
    ['nodes: null', () => ({ nodes: null }), 400, /nodes/],
    ['nodes: text', () => ({ nodes: 'x' }), 400, /nodes/],
    ['an end that is no object', () => ({ nodes: [5, end(one)] }), 400, /nodes/],
    ['an end without node_id', () => ({ nodes: [{ adapter_number: 0, port_number: 0 }, end(one)] }), 400, /node_id/],
    [
      'an end without adapter_number',
      () => ({ nodes: [{ node_id: one.node_id, port_number: 0 }, end(other)] }),
      400,
      /adapter_number/,
    ],
    [
      'an end without port_number',
      () => ({ nodes: [{ node_id: one.node_id, adapter_number: 0 }, end(other)] }),
      400,
      /port_number/,
    ],
    ['adapter_number as text', () => ({ nodes: [{ ...end(one), adapter_number: '0' }, end(other)] }), 400, /adapter_number/],
    ['port_number with a fraction', () => ({ nodes: [{ ...end(one), port_number: 0.5 }, end(other)] }), 400, /port_number/],
    ['node_id that is no UUID', () => ({ nodes: [{ ...end(one), node_id: 'x' }, end(other)] }), 400, /node_id/],
    ['an unknown key of an end', () => ({ nodes: [{ ...end(one), speed: 1 }, end(other)] }), 400, /speed/],
    ['an unknown key of a label', () => ({ nodes: [{ ...end(one), label: { text: 'a', font: 1 } }, end(other)] }), 400, /font/],
    ['an unknown key of the link', () => ({ nodes: [end(one), end(other)], speed: 1 }), 400, /speed/],
    ['link_type outside its words', () => ({ nodes: [end(one), end(other)], link_type: 'radio' }), 400, /link_type/],
    ['suspend as text', () => ({ nodes: [end(one), end(other)], suspend: 'yes' }), 400, /suspend/],
    ['the same node twice', () => ({ nodes: [end(one), end(one)] }), 409, /itself/],
    ['an unknown node', () => ({ nodes: [end(one), end({ node_id: randomUUID() })] }), 404, /Node ID/],
    ['an adapter that does not exist', () => ({ nodes: [end(one), end(other, 5, 0)] }), 404, /5\/0/],
    ['a port that does not exist', () => ({ nodes: [end(one, 0, 3), end(other)] }), 404, /0\/3/],
    ['a negative port', () => ({ nodes: [end(one, 0, -1), end(other)] }), 404, /-1/],
  ];
  for (const [what, body, status, says] of refusals) {
    test(`${what}: ${status}, and nothing is left behind`, async () => {
      const before = await links();
      const ports = await bench.client.get('/v2/compute/network/ports');
      expectFault(await bench.client.send(`POST ${project.path}/links`, { body: body() }), status, says);
      assert.deepEqual(await links(), before);
      assert.deepEqual(await bench.client.get('/v2/compute/network/ports'), ports);
    });
  }

  test('the ports of refused links are free', async () => {
    const link = await bench.client.post<LinkBody>(`${project.path}/links`, { nodes: [end(one), end(other)] });
    await bench.client.delete(`${project.path}/links/${link.link_id}`);
  });

  test('a port that has a link: 409; after deleting that link the port is free', async () => {
    const [a, b] = await pair();
    const third = await createNode(bench.client, project);
    const link = await bench.client.post<LinkBody>(`${project.path}/links`, { nodes: [end(a), end(b)] });
    for (const nodes of [
      [end(a), end(third)],
      [end(third), end(b)],
      [end(b), end(a)],
    ]) {
      expectFault(await bench.client.send(`POST ${project.path}/links`, { body: { nodes } }), 409, /already used/);
    }
    await bench.client.delete(`${project.path}/links/${link.link_id}`);
    await bench.client.post(`${project.path}/links`, { nodes: [end(a), end(third)] });
  });

  test('a node of another project: 404', async () => {
    const elsewhere = await createProject(bench.client);
    const foreign = await createNode(bench.client, elsewhere);
    expectFault(await bench.client.send(`POST ${project.path}/links`, { body: { nodes: [end(one), end(foreign)] } }), 404);
  });

  test('two requests for the same port at once: one 201, one 409', async () => {
    const [a, b] = await pair();
    const third = await createNode(bench.client, project);
    const ask = (to: NodeBody) => bench.client.send(`POST ${project.path}/links`, { body: { nodes: [end(a), end(to)] } });
    const replies = await Promise.all([ask(b), ask(third)]);
    assert.deepEqual(replies.map((reply) => reply.status).sort(), [201, 409]);
  });

  test('a closed project: 403', async () => {
    const closed = await createProject(bench.client);
    await bench.client.post(`${closed.path}/close`, {}, 204);
    expectFault(await bench.client.send(`POST ${closed.path}/links`, { body: { nodes: [end(one), end(other)] } }), 403);
    assert.deepEqual(await bench.client.get(`${closed.path}/links`), []);
  });
});

describe('PUT and DELETE of a link', () => {
  test('PUT answers 201; suspend, filters, style and labels change, ends do not', async () => {
    const link = await create();
    const path = `${project.path}/links/${link.link_id}`;
    const [first, second] = link.nodes;
    const nodes = [
      { ...first, label: { text: 'new' } },
      { ...end(one), label: { text: 'foreign' } },
    ];
    const changed = await bench.client.put<LinkBody>(path, { suspend: true, filters: { delay: [5, 1] }, nodes }, 201);
    assert.deepEqual([changed.suspend, changed.filters], [true, { delay: [5, 1] }]);
    assert.deepEqual(
      changed.nodes.map((side) => side.node_id),
      [first?.node_id, second?.node_id],
    );
    assert.equal(changed.nodes[0]?.label.text, 'new');
    assert.deepEqual(changed.nodes[1]?.label, second?.label);
    assert.deepEqual(await bench.client.get(path), changed);
  });

  test('a link can be sent back exactly as it was read', async () => {
    const link = await create({ filters: { packet_loss: [3] } });
    assert.deepEqual(await bench.client.put(`${project.path}/links/${link.link_id}`, link, 201), link);
  });

  test('PATCH changes the filters and style keys that it names; null removes one, a refusal changes nothing', async () => {
    const link = await create({ filters: { delay: [10], packet_loss: [1] }, link_style: { color: '#ff0000', width: 2 } });
    const path = `${project.path}/links/${link.link_id}`;
    const patch = (body: unknown) => bench.client.send(`PATCH ${path}`, { body });
    const both = await Promise.all([patch({ filters: { delay: [20] } }), patch({ filters: { bandwidth: [500] } })]);
    for (const answer of both) expectStatus(answer, 200);
    const filters = { delay: [20], bandwidth: [500] };
    expectStatus(await patch({ filters: { packet_loss: null }, link_style: { width: null, type: 1 }, suspend: true }), 200);
    const changed = { ...link, filters, link_style: { color: '#ff0000', type: 1 }, suspend: true };
    assert.deepEqual(await bench.client.get(path), changed);
    expectFault(await patch({ filters: { delay: [30], no_such: [1] } }), 400, /no_such/);
    expectFault(await patch({ filters: { latency: [3] } }), 400, /either delay or latency/);
    expectFault(await patch({ suspend: null }), 400, /suspend/);
    expectFault(await patch({ link_style: { grows: 'with each request' } }), 400, /grows/);
    expectFault(await patch({ link_id: link.link_id }), 400, /link_id/);
    expectFault(await bench.client.send(`PATCH ${project.path}/links/${randomUUID()}`, { body: {} }), 404);
    assert.deepEqual(await bench.client.get(path), changed);
    expectStatus(await patch({ filters: null, suspend: false }), 200);
    assert.deepEqual((await bench.client.get<LinkBody>(path)).filters, {});
  });

  test('other ports: everything else of the link stays, as one step of undo; a refusal changes nothing', async () => {
    const link = await create({ filters: { packet_loss: [3] }, link_style: { color: '#ff0000' }, suspend: true });
    const [kept, moved] = link.nodes;
    const path = `${project.path}/links/${link.link_id}`;
    const third = await createNode(bench.client, project);
    const nodes = [kept, end(third)];
    const now = await bench.client.put<LinkBody>(`${path}/ends`, { nodes });
    assert.deepEqual({ ...now, nodes: [] }, { ...link, nodes: [] });
    assert.deepEqual(now.nodes[0], kept);
    assert.equal(now.nodes[1]?.node_id, third.node_id);
    assert.deepEqual(await bench.client.get(path), now);
    await bench.client.post(`${project.path}/undo`, {}, 200);
    assert.deepEqual(await bench.client.get(path), link);
    await bench.client.post(`${project.path}/redo`, {}, 200);
    assert.deepEqual(await bench.client.get(path), now);
    const taken = await create();
    const { undo } = await bench.client.get<{ undo: number }>(`${project.path}/history`);
    const refused = async (ends: unknown, status: number, says: RegExp) =>
      expectFault(await bench.client.send(`PUT ${path}/ends`, { body: { nodes: ends } }), status, says);
    await refused([kept, taken.nodes[0]], 409, /already used/);
    await refused([kept, kept], 409, /linked to itself/);
    await refused([kept, { ...end(third), port_number: 77 }], 404, /77/);
    await refused([kept, { ...end(third), node_id: randomUUID() }], 404, /node/i);
    await refused([kept], 400, /nodes/);
    assert.deepEqual(await bench.client.get(path), now);
    assert.equal((await bench.client.get<{ undo: number }>(`${project.path}/history`)).undo, undo);
    // The port that the link had is free.
    await bench.client.post(`${project.path}/links`, { nodes: [moved, end(await createNode(bench.client, project))] });
  });

  test('DELETE answers 204, then the link is unknown', async () => {
    const link = await create();
    await bench.client.delete(`${project.path}/links/${link.link_id}`);
    expectFault(await bench.client.send(`DELETE ${project.path}/links/${link.link_id}`), 404);
    assert.ok(!(await links()).some(({ link_id }) => link_id === link.link_id));
  });

  test('deleting a node deletes its links', async () => {
    const link = await create();
    expectStatus(await bench.client.send(`DELETE ${project.path}/nodes/${link.nodes[0]?.node_id}`), 204);
    assert.ok(!(await links()).some(({ link_id }) => link_id === link.link_id));
  });
});
