/** Captures at a remote compute that is away when the controller starts again. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { expectStatus, RawClient } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

interface LinkBody {
  link_id: string;
  capturing: boolean;
  capture_compute_id: string | null;
  capture_file_name: string | null;
}
interface CaptureBody {
  capture_id: string;
  capturing: boolean;
}

const bench = await withServer();
const { client } = bench;
const computeId = randomUUID();
const [user, password] = ['teacher', 'correct-horse'];
let away: RunningServer;
let remote: RawClient;
before(async () => {
  away = await startServer({ config: { Server: { auth: true, user, password }, Qemu: { acceleration: 'off' } } });
  remote = new RawClient(away.url);
  const address = { protocol: 'http', host: '127.0.0.1', port: away.port, user, password };
  await client.post('/v2/computes', { compute_id: computeId, name: 'away', ...address });
});
after(async () => {
  remote?.close();
  await away?.stop();
});

let project: ProjectHandle;
let here: NodeBody;
let path: string;
let other: CaptureBody;
/** A link with two captures at its remote end, which alone is started; then both servers are killed, and the controller's starts again. */
beforeEach(async () => {
  project = await createProject(client);
  here = await createNode(client, project);
  const there = await createNode(client, project, 'vpcs', { compute_id: computeId });
  const { link_id } = await client.post<LinkBody>(`${project.path}/links`, { nodes: [end(here), end(there)] });
  path = `${project.path}/links/${link_id}`;
  await client.post(`${project.path}/nodes/${there.node_id}/start`, {}, 200);
  await client.post(`${path}/start_capture`, { capture_file_name: 'remote.pcap' });
  other = await client.post<CaptureBody>(`${path}/captures`, { capture_file_name: 'other.pcap' });
  assert.deepEqual(await seen(), [true, computeId, 'remote.pcap', [[other.capture_id, true]]]);
  await away.kill9();
  await bench.server.kill9();
  await bench.server.restart();
  await waitFor(seen, { what: 'the project after the restart' });
});

async function seen() {
  const link = await client.get<LinkBody>(path);
  const others = await client.get<CaptureBody[]>(`${path}/captures`);
  return [
    link.capturing,
    link.capture_compute_id,
    link.capture_file_name,
    others.map(({ capture_id, capturing }) => [capture_id, capturing]),
  ];
}
const becomes = (expected: unknown[], what: string) =>
  waitFor(async () => JSON.stringify(await seen()) === JSON.stringify(expected), { what });
const headers = { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
const atRemote = async () => {
  const reply = await remote.send(`GET ${project.computePath}/captures`, { headers });
  return expectStatus(reply, 200).json<CaptureBody[]>();
};

describe('captures at a compute that does not answer', () => {
  test('are shown as not capturing, cannot be stopped, and resume when it is back', async () => {
    const unconfirmed = [false, null, 'remote.pcap', [[other.capture_id, false]]];
    assert.deepEqual(await seen(), unconfirmed);
    const refused = [
      await client.send(`POST ${path}/stop_capture`, { body: {} }),
      await client.send(`DELETE ${path}/captures/${other.capture_id}`),
    ];
    assert.deepEqual(
      refused.map(({ status }) => status >= 400 && status !== 500),
      [true, true],
    );
    assert.deepEqual(await seen(), unconfirmed);
    await away.restart();
    await becomes([true, computeId, 'remote.pcap', [[other.capture_id, true]]], 'both captures, confirmed by their compute');
    assert.equal((await atRemote()).length, 2);
    await client.post(`${path}/stop_capture`);
    await client.delete(`${path}/captures/${other.capture_id}`);
    assert.deepEqual(await atRemote(), []);
  });

  test('end when another one was started at the other end meanwhile', async () => {
    expectStatus(await client.send(`POST ${project.path}/nodes/${here.node_id}/start`, { body: {} }), 200);
    await client.post(`${path}/start_capture`, { capture_file_name: 'here.pcap' });
    await away.restart();
    await becomes([true, 'local', 'here.pcap', [[other.capture_id, true]]], 'the one capture here, the other there');
    assert.deepEqual(
      (await atRemote()).map(({ capture_id }) => capture_id),
      [other.capture_id],
    );
  });
});
