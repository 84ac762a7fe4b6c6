/** Two servers, each in a network namespace of its own, and the cable between them: cut and mended. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { makeNamespaces } from '../support/namespaces.ts';
import { parsePcap } from '../support/pcap.ts';
import { expectFault, RawClient } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket, type WebSocketClient } from '../support/web-socket.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle } from '../support/with-server.ts';

/** What a request may take while the compute is gone, that needs it: until it is known to be, and an attempt to reach it. */
const patienceMs = 20_000;

const network = await makeNamespaces();
const skip = typeof network === 'string' && network;
const computeId = crypto.randomUUID();
let servers: RunningServer[] = [];
let client: RawClient;
let project: ProjectHandle;
let nodes: [NodeBody, NodeBody];
let link: string;

before(async () => {
  if (typeof network === 'string') return;
  const [user, password] = ['teacher', 'correct-horse'];
  const common = { Qemu: { acceleration: 'off' } };
  const [one, other] = network.launchers;
  servers = await Promise.all([
    // Everywhere: which of its addresses the other one reaches has to be found out.
    startServer({ launcher: one, args: ['--host', '0.0.0.0'], config: common }),
    startServer({
      launcher: other,
      args: ['--host', network.ends[1]],
      config: { ...common, Server: { auth: true, user, password } },
    }),
  ]);
  client = new RawClient(`http://${network.address}:${servers[0]?.port}`);
  const address = { protocol: 'http', host: network.ends[1], port: servers[1]?.port, user, password };
  await client.post('/v2/computes', { compute_id: computeId, name: 'away', ...address });
  project = await createProject(client);
  const pc = (compute_id: string, number: number) =>
    createNode(client, project, 'vpcs', { compute_id, properties: { startup_script: `ip 10.0.0.${number}/24\n` } });
  nodes = [await pc('local', 1), await pc(computeId, 2)];
  const made = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: nodes.map((node) => end(node)) });
  link = `${project.path}/links/${made.link_id}`;
  await client.post(`${project.path}/nodes/start`, {}, 204);
});
after(async () => {
  client?.close();
  for (const server of servers) await server.stop();
  if (typeof network !== 'string') await network.remove();
});

/** Of the first PC; ends when that is stopped. */
let console: WebSocketClient | undefined;
after(() => console?.close());

/** Whether a ping from the first PC is answered by the second. */
async function isReached(): Promise<boolean> {
  console ??= await openWebSocket(`${client.base.origin}${project.path}/nodes/${nodes[0].node_id}/console/ws`);
  const socket = console;
  const before = socket.messages.length;
  socket.send(Buffer.from('ping 10.0.0.2 -c 2 -w 500 -i 100\r'));
  const said = () => socket.messages.slice(before).map(String).join('');
  const outcome = /ttl=|not reachable|seq=2 timeout/;
  await waitFor(() => outcome.test(said()), { what: 'the outcome of a ping', limitMs: 15_000 });
  await waitFor(() => /> $/.test(said()), { what: 'the prompt', limitMs: 15_000 });
  return said().includes('ttl=');
}
const reached = () => waitFor(isReached, { what: 'a ping that is answered', limitMs: 40_000 });
const isConnected = (wanted: boolean) =>
  waitFor(async () => (await client.get(`/v2/computes/${computeId}`)).connected === wanted, {
    what: wanted ? 'the compute' : 'the loss of the compute',
    limitMs: 30_000,
  });

test('frames go from one namespace to the other, and filters and captures act on them', { skip }, async () => {
  await reached();
  const capture = await client.post<{ capture_file_path: string }>(`${link}/start_capture`, {});
  await reached();
  const isPing = ({ data }: { data: Buffer }) => data.readUInt16BE(12) === 0x0800 && data[23] === 1;
  const pings = async () => parsePcap(await readFile(capture.capture_file_path)).frames.filter(isPing).length;
  await waitFor(async () => (await pings()) >= 2, { what: 'a ping and its answer in the capture' });
  await client.post(`${link}/stop_capture`, {});
  await client.put(link, { filters: { frequency_drop: [-1] } }, 201);
  assert.equal(await isReached(), false);
  await client.put(link, { filters: {} }, 201);
  await reached();
});

test('a cut cable breaks nothing, and nobody waits for the other side for long', { skip }, async () => {
  assert.ok(typeof network !== 'string');
  await network.cut();
  const ask = (line: string) => client.send(line, { ...(line.startsWith('POST') && { body: {} }), limitMs: patienceMs });
  const [here, there] = nodes.map(({ node_id }) => `${project.path}/nodes/${node_id}`);
  // Before it is known, too.
  const [early, ...others] = await Promise.all([
    ask(`POST ${there}/start`),
    ...['/v2/version', '/v2/projects', '/v2/computes', `${project.path}/nodes`, `${project.path}/link_stats`].map((path) =>
      ask(`GET ${path}`),
    ),
  ]);
  expectFault(early, 409, /away/);
  for (const reply of others) assert.equal(reply.status, 200, reply.asked);
  await isConnected(false);
  const problems = await client.get<{ id: string }[]>(`${project.path}/problems`);
  assert.deepEqual(
    problems.map(({ id }) => id),
    [nodes[1].node_id],
  );
  expectFault(await ask(`POST ${there}/reload`), 409, /away/);
  assert.equal((await ask(`POST ${here}/stop`)).status, 200);
  console = undefined;
  assert.equal((await ask(`POST ${here}/start`)).status, 200);
});

test('a mended cable brings all of it back, without anybody doing anything', { skip }, async () => {
  assert.ok(typeof network !== 'string');
  await network.mend();
  await isConnected(true);
  const isSound = async () => (await client.get<unknown[]>(`${project.path}/problems`)).length === 0;
  await waitFor(isSound, { what: 'nodes that can be used', limitMs: 20_000 });
  const statuses = await client.get<NodeBody[]>(`${project.path}/nodes`);
  assert.deepEqual(
    statuses.map(({ status }) => status),
    ['started', 'started'],
  );
  await reached();
  await client.delete(project.path);
});
