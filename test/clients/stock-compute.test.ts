/** Our controller with a stock GNS3 compute: links that end at its switches, streams of its captures, and its version. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { after, test } from 'node:test';
import { expectFault, expectStatus, RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { StockCompute } from '../support/stock-compute.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const { version } = await client.get<{ version: string }>('/v2/version');
const stock = await StockCompute.start(version);
after(() => stock.stop());
const computeOf = ({ port }: StockCompute) => ({ compute_id: 'stock', name: 'stock', protocol: 'http', host: '127.0.0.1', port });
expectStatus(await client.send('POST /v2/computes', { body: computeOf(stock) }), 201);
const project = await createProject(client);
const there = { compute_id: 'stock' };
const filters = { packet_loss: [10] };

async function link(one: string, other: string, onStock: readonly [boolean, boolean], fields: object = {}) {
  const make = (type: string, isThere: boolean) => createNode(client, project, type, isThere ? there : {});
  const nodes = [await make(one, onStock[0]), await make(other, onStock[1])] as const;
  const made = await client.send(`POST ${project.path}/links`, { body: { nodes: nodes.map((node) => end(node)), ...fields } });
  return { made, nodes, path: `${project.path}/links/${made.json().link_id}` };
}

test('a link from a switch there is filtered and suspended by its other end, here or there', async () => {
  for (const onStock of [
    [true, true],
    [true, false],
  ] as const) {
    const { made, nodes, path } = await link('ethernet_switch', 'vpcs', onStock);
    expectStatus(made, 201);
    stock.calls.length = 0;
    for (const change of [{ filters }, { suspend: true }, { suspend: false }, { filters: {} }]) {
      expectStatus(await client.send(`PUT ${path}`, { body: change }), 201);
      const nio = stock.nios.get(`${nodes[1].node_id}/0/0`);
      if (onStock[1] && 'suspend' in change && change.suspend) assert.deepEqual(nio?.filters, { frequency_drop: [-1] });
      else if (onStock[1] && 'filters' in change) assert.deepEqual(nio?.filters, change.filters);
    }
    assert.deepEqual(new Set(stock.calls), new Set(onStock[1] ? ['PUT vpcs/nio'] : []), 'its switch is not asked');
    await client.delete(path);
  }
});

test('a link of two switches is filtered by the one that is ours, and by none of two that are not', async () => {
  const mixed = await link('ethernet_switch', 'ethernet_switch', [true, false]);
  expectStatus(await client.send(`PUT ${mixed.path}`, { body: { filters, suspend: true } }), 201);
  assert.notDeepEqual(await client.get(`${mixed.path}/available_filters`), []);
  const both = await link('ethernet_switch', 'ethernet_switch', [true, true]);
  expectStatus(both.made, 201);
  assert.deepEqual(await client.get(`${both.path}/available_filters`), []);
  for (const body of [{ filters }, { suspend: true }])
    expectFault(await client.send(`PUT ${both.path}`, { body }), 409, /neither filters nor a suspension/);
  expectStatus(await client.send(`PUT ${both.path}`, { body: { filters: { delay: [0, 0] }, suspend: false } }), 201);
  expectFault((await link('ethernet_switch', 'ethernet_switch', [true, true], { filters })).made, 409, /neither filters/);
});

test('a link inside a stock compute is offered the filters that it has, and no fractions; one that ends here has all', async () => {
  interface Offer {
    type: string;
    parameters: { fractions?: boolean }[];
  }
  const inside = await link('vpcs', 'vpcs', [true, true]);
  const offers = await client.get<Offer[]>(`${inside.path}/available_filters`);
  assert.deepEqual(
    offers.map(({ type }) => type),
    ['frequency_drop', 'packet_loss', 'delay', 'corrupt', 'bpf'],
  );
  assert.ok(offers.every(({ parameters }) => parameters.every((one) => one.fractions === undefined)));
  stock.calls.length = 0;
  for (const [given, reason] of [
    [
      { bandwidth: [100] },
      /^Filter bandwidth: the GNS3 compute that filters this link has no such filter\. Known filters: frequency_drop, /,
    ],
    [{ packet_loss_ab: [10] }, /^Filter packet_loss_ab: /],
    [{ packet_loss: [0.5] }, /^Filter packet_loss: .* whole numbers only/],
    [{ delay: [10, 2.5] }, /^Filter delay: .* whole numbers only/],
  ] as const)
    expectFault(await client.send(`PUT ${inside.path}`, { body: { filters: given } }), 400, reason);
  assert.deepEqual([stock.calls, (await client.get(inside.path)).filters], [[], {}]);
  expectStatus(await client.send(`PUT ${inside.path}`, { body: { filters: { delay: [10, 2] } } }), 201);
  expectFault((await link('vpcs', 'vpcs', [true, true], { filters: { packet_loss: [0.5] } })).made, 400, /whole numbers only/);
  const mixed = await link('vpcs', 'vpcs', [true, false]);
  expectStatus(await client.send(`PUT ${mixed.path}`, { body: { filters: { packet_loss: [0.5] } } }), 201);
  assert.deepEqual(stock.nios.get(`${mixed.nodes[0].node_id}/0/0`)?.filters, {}, 'the end that is ours filters');
});

test('the stream of a capture there has its headers while nothing was written', async () => {
  const { path } = await link('vpcs', 'vpcs', [true, true]);
  const capture = { capture_file_name: 'idle.pcap', data_link_type: 'DLT_EN10MB' };
  expectStatus(await client.send(`POST ${path}/start_capture`, { body: capture }), 201);
  const asked = request(`${server.url}${path}/pcap`, { agent: false });
  asked.end();
  // A capture client waits for the status before it opens its window.
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  assert.deepEqual([answer.statusCode, answer.headers['content-type']], [200, 'application/vnd.tcpdump.pcap']);
  stock.write('frames');
  assert.equal(Buffer.concat(await answer.toArray()).toString(), 'frames');
});

test('a compute of another version of the series is used where the settings allow it', async () => {
  const [major, minor, patch] = version.split('.');
  const series = `${major}.${minor}`;
  const lenient = await startServer({ config: { Server: { same_compute_version: false }, Qemu: { acceleration: 'off' } } });
  const other = new RawClient(lenient.url);
  after(async () => {
    other.close();
    await lenient.stop();
  });
  for (const [says, isStrict, isLenient] of [
    [`${version}.dev1`, false, true],
    [`${series}.${Number(patch) + 1}`, false, true],
    [`${version}-rc1`, true, true],
    [`${major}.${Number(minor) + 1}.0`, false, false],
  ] as const) {
    const compute = await StockCompute.start(says);
    const body = { ...computeOf(compute), compute_id: says, name: says };
    try {
      for (const [asked, isUsed] of [
        [client, isStrict],
        [other, isLenient],
      ] as const) {
        const reply = await asked.send('POST /v2/computes', { body });
        if (isUsed) expectStatus(reply, 201);
        else expectFault(reply, 409, isLenient ? /version is .*same_compute_version = False/ : /version is/);
        if (isUsed) await asked.delete(`/v2/computes/${says}`);
      }
      assert.match(String(compute.agents[0]), /^Patchbay\//);
    } finally {
      await compute.stop();
    }
  }
});
