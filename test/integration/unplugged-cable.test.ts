/** Two servers, each in its own network namespace, with a cable between them that is unplugged and replugged. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { makeNamespaces } from '../support/namespaces.ts';
import { parsePcap } from '../support/pcap.ts';
import { expectFault } from '../support/raw-http.ts';
import { TwoHosts } from '../support/two-hosts.ts';
import { waitFor } from '../support/wait-for.ts';
import type { NodeBody } from '../support/with-server.ts';

/** Limit of a request that needs the unreachable compute: until its loss is detected, plus one connection attempt. */
const patienceMs = 20_000;

const network = await makeNamespaces();
const skip = typeof network === 'string' && network;
let hosts: TwoHosts;

before(async () => {
  if (typeof network !== 'string') hosts = await TwoHosts.start(network);
});
after(async () => {
  try {
    await hosts?.stop();
  } finally {
    if (typeof network !== 'string') await network.remove();
  }
});

test('frames go from one namespace to the other, and filters and captures act on them', { skip }, async () => {
  const { client, link } = hosts;
  await hosts.reached();
  await hosts.isCarried('stream');
  const capture = await client.post<{ capture_file_path: string }>(`${link}/start_capture`, {});
  await hosts.reached();
  const isPing = ({ data }: { data: Buffer }) => data.readUInt16BE(12) === 0x0800 && data[23] === 1;
  const pings = async () => parsePcap(await readFile(capture.capture_file_path)).frames.filter(isPing).length;
  await waitFor(async () => (await pings()) >= 2, { what: 'a ping and its answer in the capture' });
  await client.post(`${link}/stop_capture`, {});
  for (const effect of [{ filters: { frequency_drop: [-1] } }, { filters: {}, suspend: true }]) {
    await client.put(link, effect, 201);
    assert.equal(await hosts.isReached(), false);
    await client.put(link, { filters: {}, suspend: false }, 201);
    await hosts.reached();
  }
});

test('an unplugged cable breaks nothing, and no request waits long for the other side', { skip }, async () => {
  assert.ok(typeof network !== 'string');
  const { client, project, nodes } = hosts;
  await network.unplug();
  const ask = (line: string) => client.send(line, { ...(line.startsWith('POST') && { body: {} }), limitMs: patienceMs });
  const [here, there] = nodes.map(({ node_id }) => `${project.path}/nodes/${node_id}`);
  // Requests are answered also before it is known that the cable is unplugged.
  const [early, ...others] = await Promise.all([
    ask(`POST ${there}/start`),
    ...['/v2/version', '/v2/projects', '/v2/computes', `${project.path}/nodes`, `${project.path}/link_stats`].map((path) =>
      ask(`GET ${path}`),
    ),
  ]);
  expectFault(early, 409, /away/);
  for (const reply of others) assert.equal(reply.status, 200, reply.request);
  await hosts.isConnected(false);
  const problems = await client.get<{ id: string }[]>(`${project.path}/problems`);
  assert.deepEqual(
    problems.map(({ id }) => id),
    [nodes[1].node_id],
  );
  expectFault(await ask(`POST ${there}/reload`), 409, /away/);
  await hosts.isCarried('udp');
  assert.equal((await ask(`POST ${here}/stop`)).status, 200);
  hosts.leave();
  assert.equal((await ask(`POST ${here}/start`)).status, 200);
});

test('a replugged cable restores everything automatically', { skip }, async () => {
  assert.ok(typeof network !== 'string');
  const { client, project } = hosts;
  await network.replug();
  await hosts.isConnected(true);
  await hosts.untilUsable();
  const statuses = await client.get<NodeBody[]>(`${project.path}/nodes`);
  assert.deepEqual(
    statuses.map(({ status }) => status),
    ['started', 'started'],
  );
  await hosts.reached();
  await hosts.isCarried('stream');
  await client.delete(project.path);
});
