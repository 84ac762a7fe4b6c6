/** Packet filters of a link: stored values, refusals, and the list of available filters. */
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
  /** Sent value, stored value. */
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
    [
      { packet_loss: [5], match: [' udp port 53 '] },
      { packet_loss: [5], match: ['udp port 53'] },
    ],
    [{ latency: ['25'] }, { latency: [25] }],
    [{ frequency_drop: [0], packet_loss: [7] }, { packet_loss: [7] }],
    [{ latency: [0], delay: [0, 5], corrupt: [0], packet_loss: [0] }, {}],
    [{ latency: [], bpf: [''] }, {}],
    [{}, {}],
    [{ packet_loss: [0.1] }, { packet_loss: [0.1] }],
    [{ packet_loss: ['0.25'] }, { packet_loss: [0.25] }],
    [{ delay: [0.5, 0.25] }, { delay: [0.5, 0.25] }],
    [{ corrupt: [99.9] }, { corrupt: [99.9] }],
    [{ bandwidth: [64.5, 3000] }, { bandwidth: [64.5, 3000] }],
    [{ burst_loss: [1, 20, 0, 80.5] }, { burst_loss: [1, 20, 0, 80.5] }],
    [
      { duplicate: [1], reorder: [25, 5] },
      { duplicate: [1], reorder: [25, 5] },
    ],
    [
      { delay: [20, 5], jitter: [1, ' Normal '] },
      { delay: [20, 5], jitter: [1, 'normal'] },
    ],
    // The order of 0.2, and numbers as text.
    [{ jitter: ['pareto', 1] }, { jitter: [1, 'pareto'] }],
    [{ jitter_ba: ['pareto'] }, { jitter_ba: [0, 'pareto'] }],
    [{ jitter: ['1', 'pareto'] }, { jitter: [1, 'pareto'] }],
    [{ jitter: [1] }, {}],
    [{ jitter: [1, ''] }, {}],
    [
      { packet_loss_ab: [5], delay: [1], delay_ba: [9], bpf_ab: ['arp'] },
      { packet_loss_ab: [5], delay: [1], delay_ba: [9], bpf_ab: ['arp'] },
    ],
    [{ seed: [2_147_483_647] }, { seed: [2_147_483_647] }],
    [
      {
        seed: [0],
        bandwidth: [0, 0],
        burst_loss: [0, 0, 0, 0],
        duplicate: [0],
        reorder: [0, 0],
        jitter: [0, ''],
        delay_ab: [0, 0],
        bpf_ba: [''],
      },
      {},
    ],
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
    { frequency_drop: [1.5] },
    { packet_loss: [100.1] },
    { packet_loss: ['1e1'] },
    { delay: [0.5, -0.1] },
    { bandwidth: [-1] },
    { bandwidth: [100, 1.5] },
    { burst_loss: [1, 2, 3, 4, 5] },
    { reorder: [5, 1001] },
    { jitter: ['gaussian'] },
    { jitter: ['normal', 2] },
    { jitter: ['normal', 'normal'] },
    { seed: [2_147_483_648] },
    { seed: [1.5] },
    { seed_ab: [1] },
    { delay_ac: [1] },
    { delay_ab_ba: [1] },
    { delay_ab: [1], latency_ab: [1] },
    { bpf_ab: ['no such words here'] },
    { match: ['no such words here'] },
  ];
  for (const filters of refused) {
    test(`${JSON.stringify(filters)}: 400 that names the known ones, and the old set stays`, async () => {
      await bench.client.put(link, { filters: { packet_loss: [1] } }, 201);
      const { message } = expectFault(await bench.client.send(`PUT ${link}`, { body: { filters } }), 400);
      if ('match' in filters) assert.match(String(message), /^Filter match: /);
      for (const name of known.slice(0, 5)) assert.ok(String(message).includes(name), `${name} is not in: ${message}`);
      assert.deepEqual((await bench.client.get<{ filters: unknown }>(link)).filters, { packet_loss: [1] });
    });
  }

  /** All filters that a form of GNS3's clients sends. */
  const form = { frequency_drop: [0], packet_loss: [0], delay: [0, 0], corrupt: [0], bpf: [''] };
  const ofForms: [string, Record<string, unknown>][] = [
    ['a text in place of a delay', { delay: 'abc', 'delay/2': [5] }],
    ['a number in place of a delay, sent last', { 'delay/2': [5], delay: 7 }],
    ['null in place of a delay', { delay: null, 'delay/2': [5] }],
    ['an object without a number', { packet_loss: [{ toString: 1, valueOf: 1 }] }],
    ['such an object as the delay', { delay: [{ toString: 1, valueOf: 1 }] }],
    ['a list in a list', { delay: [[[]]] }],
    ['null', { packet_loss: [null] }],
    ['a name of JavaScript', JSON.parse('{"__proto__": [1]}')],
  ];
  for (const [what, filters] of ofForms)
    for (const [client, userAgent] of [
      ['the desktop', 'GNS3 QT Client v2.2.54'],
      ['another client', 'Mozilla/5.0'],
    ])
      test(`${what} in the form of ${client} is 400, and the old set stays`, async () => {
        await bench.client.put(link, { filters: { delay: [5.5, 1.5] } }, 201);
        const entries = [...Object.entries(form), ...Object.entries(filters)];
        const raw = Buffer.from(JSON.stringify({ filters: Object.fromEntries(entries) }));
        const headers = { 'content-type': 'application/json', 'user-agent': String(userAgent) };
        expectFault(await bench.client.send(`PUT ${link}`, { raw, headers }), 400);
        assert.deepEqual((await bench.client.get<{ filters: unknown }>(link)).filters, { delay: [5.5, 1.5] });
      });

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

interface Offer {
  type: string;
  name: string;
  description: string;
  parameters: { name: string; type: string; unit?: string; minimum?: number; maximum?: number }[];
}

describe('available_filters', () => {
  const offers = () => bench.client.get<Offer[]>(`${link}/available_filters`);

  test('GNS3’s five filters come first, unchanged', async () => {
    const ofGns3 = (await offers()).slice(0, 5);
    const parameters = ofGns3.map((offer) => [
      offer.type,
      ...offer.parameters.map(({ name, type, unit, minimum, maximum }) => [name, type, unit, minimum, maximum]),
    ]);
    assert.deepEqual(parameters, [
      ['frequency_drop', ['Frequency', 'int', 'th packet', -1, 32767]],
      ['packet_loss', ['Chance', 'int', '%', 0, 100]],
      ['delay', ['Latency', 'int', 'ms', 0, 32767], ['Jitter (-/+)', 'int', 'ms', 0, 32767]],
      ['corrupt', ['Chance', 'int', '%', 0, 100]],
      ['bpf', ['Filters', 'text', undefined, undefined, undefined]],
    ]);
  });

  test('the others follow, in fields that existing forms can show', async () => {
    await bench.client.put(link, { filters: {} }, 201);
    const others = (await offers()).slice(5);
    assert.deepEqual(
      others.map(({ type }) => type),
      ['bandwidth', 'burst_loss', 'duplicate', 'reorder', 'jitter', 'match', 'seed'],
    );
    for (const { name, description, parameters } of others) {
      assert.ok(name && description.length > 20 && parameters.length > 0, name);
      for (const { type, unit, minimum, maximum } of parameters) {
        if (type === 'text') continue;
        assert.equal(type, 'int');
        assert.equal(typeof unit, 'string');
        // The default of a form has no effect, and is within the form's bounds.
        assert.equal(minimum, 0);
        assert.ok(maximum !== undefined && maximum > 0 && maximum < 2 ** 31);
      }
    }
  });

  test('what all forms send when nothing was touched is kept inactive', async () => {
    const all = (await offers()).map(({ type, parameters }) => [type, parameters.map((field) => (field.type === 'text' ? '' : 0))]);
    const answer = await bench.client.put<{ filters: unknown }>(link, { filters: Object.fromEntries(all) }, 201);
    assert.deepEqual(answer.filters, {});
  });

  test('those of one direction are offered while the link has them, with the names of its nodes', async () => {
    await bench.client.put(link, { filters: { delay_ba: [5, 1] } }, 201);
    const { nodes } = await bench.client.get<{ nodes: { node_id: string }[] }>(link);
    const names = await Promise.all(
      nodes.map(async ({ node_id }) => (await bench.client.get<{ name: string }>(`${project.path}/nodes/${node_id}`)).name),
    );
    const offer = (await offers()).find(({ type }) => type === 'delay_ba');
    assert.equal(offer?.name, `Delay, ${names[1]} to ${names[0]} only`);
    assert.equal(offer?.parameters.length, 2);
  });
});

test('a link that is sent back whole keeps its filters', async () => {
  const filters = { bandwidth: [1000, 0], delay_ab: [10], jitter: [0, 'pareto'], packet_loss: [0.1], seed: [42] };
  await bench.client.put(link, { filters }, 201);
  const whole = await bench.client.get<object>(link);
  assert.deepEqual((await bench.client.put<{ filters: unknown }>(link, whole, 201)).filters, filters);
});
