/** Probes of PCs over the HTTP API, and `patchbay lab ping`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { NodeProbe, NodeProbeAnswer } from '../../src/schema/pc-probe.ts';
import { serverProgram } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const project = await createProject(client);
const script = (last: number) => ({ properties: { startup_script: `ip 10.0.0.${last}/24\n` } });
const [one, two] = [await createNode(client, project, 'vpcs', script(1)), await createNode(client, project, 'vpcs', script(2))];
const ends = [one, two].map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 0 }));
await client.post(`${project.path}/links`, { nodes: ends });
const path = `${project.path}/nodes/${one.node_id}/probe`;
const ask = (probe: NodeProbe) => client.post<NodeProbeAnswer>(path, probe, 200);

test('a PC that does not run, other kinds, and wrong requests are refused', async () => {
  assert.equal((await client.send(`POST ${path}`, { body: { type: 'ping', to: '10.0.0.2' } })).status, 409);
  await client.post(`${project.path}/nodes/start`, {}, 204);
  const hub = await createNode(client, project, 'ethernet_hub');
  assert.equal((await client.send(`POST ${project.path}/nodes/${hub.node_id}/probe`, { body: { type: 'arp' } })).status, 404);
  const wrong = [
    {},
    { type: 'ping' },
    { type: 'tcp', to: '10.0.0.2' },
    { type: 'ping', to: 'x', count: 0 },
    { type: 'arp', port: 7 },
    { type: 'addresses', to: '10.0.0.2' },
  ];
  for (const body of wrong) assert.equal((await client.send(`POST ${path}`, { body: body })).status, 400, JSON.stringify(body));
});

test('a PC answers with numbers', async () => {
  await waitFor(async () => (await ask({ type: 'ping', to: '10.0.0.2', count: 1 })).received === 1, { what: 'addresses' });
  const { sent, received, replies = [] } = await ask({ type: 'ping', to: '10.0.0.2', count: 3, interval_ms: 10 });
  assert.deepEqual(
    [sent, received, replies.map(({ sequence, from }) => [sequence, from])],
    [3, 3, [1, 2, 3].map((sequence) => [sequence, '10.0.0.2'])],
  );
  assert.ok(replies.every(({ ms }) => ms !== null && ms > 0 && ms < 1000));
  assert.equal((await ask({ type: 'tcp', to: '10.0.0.2', port: 7 })).outcome, 'open');
  const { arrived, hops } = await ask({ type: 'trace', to: '10.0.0.2' });
  assert.deepEqual([arrived, hops?.map(({ hop, from }) => [hop, from])], [true, [[1, '10.0.0.2']]]);
  assert.deepEqual(
    (await ask({ type: 'arp' })).neighbours?.map(({ address }) => address),
    ['10.0.0.2'],
  );
  const { addresses = [], mtu } = await ask({ type: 'addresses' });
  assert.equal(mtu, 1500);
  assert.deepEqual([addresses[0], addresses.slice(1).map((one) => /^fe80::[0-9a-f:]+\/64$/.test(one))], ['10.0.0.1/24', [true]]);
  assert.equal((await ask({ type: 'resolve', to: 'nowhere.example' })).failure, 'unresolved');
  assert.equal((await ask({ type: 'ping', to: '10.9.9.9', count: 1 })).failure, 'no_gateway');
});

test('a probe ends when its client leaves', async () => {
  const endless = { type: 'ping', to: '10.0.0.2', count: 1000, interval_ms: 60_000 };
  const leave = new AbortController();
  const body = JSON.stringify(endless);
  const headers = { 'content-type': 'application/json' };
  // Requests, as many as a PC has at a time.
  const asked = Array.from({ length: 64 }, () =>
    fetch(`${server.url}${path}`, { method: 'POST', headers, body, signal: leave.signal }),
  );
  const failure = async () => (await ask({ type: 'ping', to: '10.0.0.2', count: 1 })).failure;
  await waitFor(async () => (await failure()) === 'busy', { what: 'all of them' });
  leave.abort();
  await Promise.allSettled(asked);
  await waitFor(async () => (await failure()) === null, { what: 'their end' });
});

test('the command line pings from a PC', async () => {
  const program = [
    process.execPath,
    serverProgram,
    'lab',
    'ping',
    one.name,
    '10.0.0.2',
    '--count',
    '2',
    '--interval',
    '1',
    '--json',
  ];
  const [file = '', ...args] = [...program, '--project', project.id, '--url', server.url];
  const { stdout } = await promisify(execFile)(file, args);
  const { received, node } = JSON.parse(stdout);
  assert.deepEqual([received, node], [2, one.name]);
});
