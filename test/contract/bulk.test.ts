/** Many nodes, links and drawings in one request: all or none, also when the server dies, and many times faster. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it } from 'node:test';
import type { History } from '../../src/schema/history.ts';
import { listen } from '../support/notices.ts';
import { expectFault, RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle } from '../support/with-server.ts';

const server = await startServer({ config: { Qemu: { acceleration: 'off' } } });
after(() => server.stop());
const client = new RawClient(server.url);
after(() => client.close());

interface Made {
  nodes: NodeBody[];
  links: { link_id: string; nodes: { node_id: string }[]; filters: object }[];
  drawings: { drawing_id: string; svg: string }[];
}

const node = (ref: string, more = {}) => ({ ref, name: 'PC{0}', node_type: 'vpcs', compute_id: 'local', ...more });
const at = (ref: string) => ({ ref, adapter_number: 0, port_number: 0 });
/** `count` nodes, each pair of them linked, and a drawing. */
const pairs = (count: number) => ({
  nodes: Array.from({ length: count }, (_, n) => node(`n${n}`)),
  links: Array.from({ length: count / 2 }, (_, n) => ({
    nodes: [at(`n${2 * n}`), at(`n${2 * n + 1}`)],
    filters: { latency: [n + 1] },
  })),
  drawings: [{ svg: `<svg>${'z'.repeat(2000)}</svg>` }],
});

function listsOf(project: ProjectHandle): Promise<unknown[][]> {
  return Promise.all(['nodes', 'links', 'drawings'].map((list) => client.get<unknown[]>(`${project.path}/${list}`)));
}

async function world(project: ProjectHandle): Promise<unknown> {
  return { lists: await listsOf(project), ports: await client.get('/v2/compute/network/ports') };
}

describe('POST bulk', () => {
  it('creates all in the order of the request, notifies of each, and undoes them as one step', async () => {
    const project = await createProject(client);
    const before = await world(project);
    const listener = await listen(`${server.url}${project.path}/notifications/ws`);
    const made = await client.post<Made>(`${project.path}/bulk`, pairs(20));
    assert.deepEqual(
      made.nodes.map(({ name }) => name),
      Array.from({ length: 20 }, (_, n) => `PC${n + 1}`),
    );
    assert.equal(new Set(made.nodes.map(({ console }) => console)).size, 20);
    for (const [n, link] of made.links.entries()) {
      assert.deepEqual(
        link.nodes.map(({ node_id }) => node_id),
        [made.nodes[2 * n]?.node_id, made.nodes[2 * n + 1]?.node_id],
      );
      assert.deepEqual(link.filters, { latency: [n + 1] });
    }
    assert.deepEqual(await client.get(`${project.path}/nodes`), made.nodes);
    assert.deepEqual(await client.get(`${project.path}/links`), made.links);
    assert.deepEqual(await client.get(`${project.path}/drawings`), made.drawings);
    await listener.find(({ action }) => action === 'drawing.created', 'the last event');
    const notices = listener.notices();
    assert.deepEqual(
      notices.map(({ event }) => event),
      [...made.nodes, ...made.links, ...made.drawings],
    );
    const numbers = notices.map(({ seq }) => Number(seq));
    assert.deepEqual(
      numbers,
      numbers.map((_, n) => Number(numbers[0]) + n),
    );
    await client.post(`${project.path}/undo`, {}, 200);
    assert.deepEqual(await world(project), before);
    assert.equal((await client.get<History>(`${project.path}/history`)).undo, null);
    await listener.close();
  });

  it('links new nodes to nodes of the project, and takes ids that are chosen', async () => {
    const project = await createProject(client);
    const [old, other] = [await createNode(client, project), await createNode(client, project)];
    const [node_id, link_id, drawing_id] = [randomUUID(), randomUUID(), randomUUID()];
    const chosen = { node_id, adapter_number: 0, port_number: 0 };
    const body = {
      nodes: [{ name: 'X', node_type: 'qemu', compute_id: 'local', node_id, properties: { adapters: 2 } }],
      links: [{ link_id, nodes: [end(old), chosen] }, { nodes: [end(other), { ...chosen, adapter_number: 1 }] }],
      drawings: [{ drawing_id }],
    };
    const made = await client.post<Made>(`${project.path}/bulk`, body);
    assert.deepEqual(
      [made.nodes[0]?.node_id, made.links[0]?.link_id, made.drawings[0]?.drawing_id],
      [node_id, link_id, drawing_id],
    );
    for (const part of ['nodes', 'drawings'] as const)
      expectFault(await client.send(`POST ${project.path}/bulk`, { body: { [part]: body[part] } }), 409, /already/);
  });

  it('leaves nothing when one of them cannot be made', async () => {
    const project = await createProject(client);
    const [old, other] = [await createNode(client, project), await createNode(client, project)];
    await client.post(`${project.path}/links`, { nodes: [end(old), end(other)] });
    const before = await world(project);
    const many = pairs(10);
    const taken = { nodes: [end(old), at('n0')] };
    const wrong: [object, number, RegExp][] = [
      [{ ...many, links: [...many.links, taken] }, 409, /^links\[5\]: Port 0\/0 .* already used/],
      [
        {
          ...many,
          strict: true,
          nodes: [...many.nodes, node('bad', { node_type: 'qemu', properties: { hda_disk_image: 'no.img' } })],
        },
        409,
        /^nodes\[10\]: .*no\.img/,
      ],
      [{ ...many, nodes: [...many.nodes, node('bad', { node_type: 'iou' })] }, 400, /^nodes\[10\]: .*"path"/],
      [{ ...many, nodes: [...many.nodes, node('bad', { compute_id: 'nowhere' })] }, 404, /^nodes\[10\]/],
      [{ ...many, links: [{ nodes: [at('n0'), at('n0')] }] }, 409, /^links\[0\]: .*itself/],
      [{ ...many, links: [{ nodes: [at('n0'), { ...at('n1'), port_number: 7 }] }] }, 404, /^links\[0\]: Port 0\/7/],
      [{ ...many, links: [{ nodes: [at('n0'), at('missing')] }] }, 400, /no node has the ref "missing"/],
      [{ ...many, links: [{ nodes: [at('n0'), { ...end(old), ref: 'n1' }] }] }, 400, /either node_id or ref/],
      [{ ...many, nodes: [...many.nodes, node('n1')] }, 400, /another has "n1" too/],
      [{ ...many, links: [{ nodes: [at('n0'), at('n1')], filters: { delay: [-5] } }] }, 400, /^links\[0\]: Filter delay/],
      [{ ...many, links: [{ nodes: [at('n0')] }] }, 400, /links/],
      [{ ...many, drawings: [{ x: 'left' }] }, 400, /drawings/],
    ];
    for (const [body, status, says] of wrong) {
      expectFault(await client.send(`POST ${project.path}/bulk`, { body }), status, says);
      assert.deepEqual(await world(project), before, String(says));
    }
    const { nodes } = await client.post<Made>(`${project.path}/bulk`, pairs(2));
    assert.deepEqual(
      nodes.map(({ name }) => name),
      ['PC1', 'PC2'],
    );
  });

  it('takes an empty one, and two at once that want the same port', async () => {
    const project = await createProject(client);
    assert.deepEqual(await client.post(`${project.path}/bulk`, {}), { nodes: [], links: [], drawings: [] });
    const old = await createNode(client, project);
    const body = { nodes: [node('a')], links: [{ nodes: [end(old), at('a')] }] };
    const replies = await Promise.all([1, 2].map(() => client.send(`POST ${project.path}/bulk`, { body })));
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409]);
    assert.equal((await client.get<unknown[]>(`${project.path}/nodes`)).length, 2);
  });

  it('is complete or absent after the server was killed', async () => {
    const project = await createProject(client);
    for (let round = 0; round < 6; round++) {
      const sending = client.send(`POST ${project.path}/bulk`, { body: pairs(30) }).then(
        ({ status }) => status,
        () => 0,
      );
      await new Promise((pass) => setTimeout(pass, 15 * round));
      await server.kill9();
      const status = await sending;
      await server.restart();
      await client.post(`${project.path}/open`);
      const nodes = await client.get<NodeBody[]>(`${project.path}/nodes`);
      const links = await client.get<unknown[]>(`${project.path}/links`);
      assert.ok(nodes.length === 0 || nodes.length === 30, `${nodes.length} nodes`);
      assert.equal(links.length, nodes.length / 2);
      if (status === 201) assert.equal(nodes.length, 30);
      if (nodes.length > 0) await client.post(`${project.path}/undo`, {}, 200);
      assert.deepEqual(await client.get(`${project.path}/nodes`), []);
    }
  });
});

describe('POST bulk/delete', () => {
  const idsOf = ({ nodes, links, drawings }: Made) => ({
    nodes: nodes.map(({ node_id }) => node_id),
    links: links.map(({ link_id }) => link_id),
    drawings: drawings.map(({ drawing_id }) => drawing_id),
  });

  it('deletes running nodes, links and drawings as one step, and undo restores them', async () => {
    const project = await createProject(client);
    const ids = idsOf(await client.post<Made>(`${project.path}/bulk`, pairs(6)));
    await client.post(`${project.path}/nodes/start`, {}, 204);
    const before = await client.get<History>(`${project.path}/history`);
    // The links of these nodes are deleted with them; one is in the request, too.
    await client.post(`${project.path}/bulk/delete`, { ...ids, nodes: ids.nodes.slice(0, 4), links: ids.links.slice(0, 1) }, 204);
    const left = await client.get<NodeBody[]>(`${project.path}/nodes`);
    assert.deepEqual(
      left.map(({ node_id }) => node_id),
      ids.nodes.slice(4),
    );
    const { preview, undo } = await client.get<History>(`${project.path}/history`);
    assert.notEqual(undo, before.undo);
    const step = { nodes: 4, links: 2, drawings: 1, restores: 7, deletes: 0 };
    assert.deepEqual(preview.undo, { ...preview.undo, ...step });
    await client.post(`${project.path}/undo`, {}, 200);
    const all = ['nodes', 'links', 'drawings'].map((list) => client.get<unknown[]>(`${project.path}/${list}`));
    assert.deepEqual(
      (await Promise.all(all)).map(({ length }) => length),
      [6, 3, 1],
    );
    assert.equal((await client.get<History>(`${project.path}/history`)).undo, before.undo);
  });

  it('deletes nothing when one of them is locked or unknown', async () => {
    const project = await createProject(client);
    const ids = idsOf(await client.post<Made>(`${project.path}/bulk`, pairs(4)));
    const remove = async (body: object, status: number, says: RegExp) =>
      expectFault(await client.send(`POST ${project.path}/bulk/delete`, { body }), status, says);
    await client.put(`${project.path}/nodes/${ids.nodes[3]}`, { locked: true });
    // Ports of the server that was killed before are released meanwhile.
    const before = await listsOf(project);
    await remove(ids, 409, /^nodes\[3\]: .*locked/);
    await remove({ ...ids, nodes: [randomUUID()] }, 404, /^nodes\[0\]: /);
    await remove({ nodes: ids.nodes.slice(0, 2), links: [randomUUID()] }, 404, /^links\[0\]: /);
    await remove({ drawings: [...ids.drawings, randomUUID()] }, 404, /^drawings\[1\]: /);
    await remove({ nodes: ['x'] }, 400, /nodes/);
    assert.deepEqual(await listsOf(project), before);
  });
});
