/** Packet filters of a link: what is stored, what is refused, what is offered. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { expectFault } from '../support/raw-http.ts';
import { createNode, createProject, end, type ProjectHandle, withServer } from '../support/with-server.ts';

const bench = await withServer();
let project: ProjectHandle;
let link: string;
before(async () => {
  project = await createProject(bench.client);
  const nodes = [end(await createNode(bench.client, project)), end(await createNode(bench.client, project, 'qemu'))];
  const made = await bench.client.post<{ link_id: string }>(`${project.path}/links`, { nodes });
  link = `${project.path}/links/${made.link_id}`;
});

const known = ['frequency_drop', 'packet_loss', 'delay', 'corrupt', 'bpf', 'latency'];

describe('filters that are stored', () => {
  /** What is sent, what is stored. */
  const stored: [Record<string, unknown>, Record<string, unknown>][] = [
    [{ latency: [10] }, { latency: [10] }],
    [{ frequency_drop: [4] }, { frequency_drop: [4] }],
    [{ frequency_drop: [-1] }, { frequency_drop: [-1] }],
    [{ packet_loss: [100] }, { packet_loss: [100] }],
    [{ delay: [32767, 32767] }, { delay: [32767, 32767] }],
    [{ delay: [10] }, { delay: [10] }],
    [{ corrupt: [1] }, { corrupt: [1] }],
    [{ bpf: ['icmp[icmptype] == 8'] }, { bpf: ['icmp[icmptype] == 8'] }],
    [{ bpf: ['  arp \n'] }, { bpf: ['arp'] }],
    [{ bpf: ['arp\nicmp'] }, { bpf: ['arp\nicmp'] }],
    [{ latency: ['25'] }, { latency: [25] }],
    [{ frequency_drop: [0], packet_loss: [7] }, { packet_loss: [7] }],
    [{ latency: [0], delay: [0, 5], corrupt: [0], packet_loss: [0] }, {}],
    [{ latency: [], bpf: [''] }, {}],
    [{}, {}],
    [
      { frequency_drop: [2], packet_loss: [3], latency: [4], corrupt: [5], bpf: ['arp'] },
      { frequency_drop: [2], packet_loss: [3], latency: [4], corrupt: [5], bpf: ['arp'] },
    ],
  ];
  for (const [sent, kept] of stored) {
    test(`${JSON.stringify(sent)} is kept as ${JSON.stringify(kept)}`, async () => {
      const answer = await bench.client.put<{ filters: unknown }>(link, { filters: sent }, 201);
      assert.deepEqual(answer.filters, kept);
      assert.deepEqual((await bench.client.get<{ filters: unknown }>(link)).filters, kept);
    });
  }
});

describe('filters that are refused', () => {
  const refused: Record<string, unknown>[] = [
    { nonsense: [1] },
    { Latency: [1] },
    { __proto__x: [1] },
    { constructor: [1] },
    { toString: [1] },
    { latency: [-1] },
    { latency: [32768] },
    { latency: [1.5] },
    { latency: [null] },
    { latency: [[1]] },
    { latency: [{}] },
    { latency: [true] },
    { latency: ['fast'] },
    { latency: [1, 2] },
    { latency: 10 },
    { latency: '10' },
    { latency: null },
    { latency: { 0: 10 } },
    { frequency_drop: [-2] },
    { frequency_drop: [32768] },
    { packet_loss: [101] },
    { packet_loss: [-1] },
    { delay: [1, -1] },
    { delay: [1, 2, 3] },
    { delay: [1, 'x'] },
    { corrupt: [101] },
    { bpf: [5] },
    { bpf: ['x', 'y'] },
    { packet_loss: [5], nonsense: [0] },
  ];
  for (const filters of refused) {
    test(`${JSON.stringify(filters)}: 400 that names the known ones, and the old set stays`, async () => {
      await bench.client.put(link, { filters: { packet_loss: [1] } }, 201);
      const { message } = expectFault(await bench.client.send(`PUT ${link}`, { body: { filters } }), 400);
      for (const name of known.slice(0, 5)) assert.ok(String(message).includes(name), `${name} is not in: ${message}`);
      assert.deepEqual((await bench.client.get<{ filters: unknown }>(link)).filters, { packet_loss: [1] });
    });
  }

  for (const filters of [null, 5, 'latency', [], true]) {
    test(`filters: ${JSON.stringify(filters)} is 400`, async () => {
      expectFault(await bench.client.send(`PUT ${link}`, { body: { filters } }), 400, /filters/);
    });
  }

  test('a bpf expression that does not compile is 400 or kept inactive, never 500', async () => {
    const reply = await bench.client.send(`PUT ${link}`, { body: { filters: { bpf: ['no such words here'] } } });
    assert.ok([201, 400, 409].includes(reply.status), reply.text());
  });

  test('a refusal at creation leaves neither link nor ports taken', async () => {
    const nodes = [end(await createNode(bench.client, project)), end(await createNode(bench.client, project))];
    const ports = await bench.client.get('/v2/compute/network/ports');
    const count = (await bench.client.get<unknown[]>(`${project.path}/links`)).length;
    expectFault(await bench.client.send(`POST ${project.path}/links`, { body: { nodes, filters: { lag: [3] } } }), 400, /lag/);
    assert.equal((await bench.client.get<unknown[]>(`${project.path}/links`)).length, count);
    assert.deepEqual(await bench.client.get('/v2/compute/network/ports'), ports);
    await bench.client.post(`${project.path}/links`, { nodes, filters: { latency: [3] } });
  });
});

test('available_filters: the five kinds with parameters, units and bounds', async () => {
  interface Offer {
    type: string;
    name: string;
    description: string;
    parameters: { name: string; type: string; unit?: string; minimum?: number; maximum?: number }[];
  }
  const offers = await bench.client.get<Offer[]>(`${link}/available_filters`);
  assert.deepEqual(offers.map(({ type }) => type).sort(), ['bpf', 'corrupt', 'delay', 'frequency_drop', 'packet_loss']);
  const parameters = Object.fromEntries(
    offers.map((offer) => [offer.type, offer.parameters.map(({ type, unit, minimum, maximum }) => [type, unit, minimum, maximum])]),
  );
  assert.deepEqual(parameters, {
    frequency_drop: [['int', 'th packet', -1, 32767]],
    packet_loss: [['int', '%', 0, 100]],
    delay: [
      ['int', 'ms', 0, 32767],
      ['int', 'ms', 0, 32767],
    ],
    corrupt: [['int', '%', 0, 100]],
    bpf: [['text', undefined, undefined, undefined]],
  });
});
