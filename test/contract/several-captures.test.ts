/** Several captures of a link: each with its file, its side of the filters, its limits, its stream and its end. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { processesOf } from '../support/leftovers.ts';
import { isPing, openPcap, parsePcap, wholeFrames } from '../support/pcap.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { command, openTelnet, skipHistory } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, end, type NodeBody, withServer } from '../support/with-server.ts';

const bench = await withServer();

interface Capture {
  capture_id: string;
  capture_file_name: string;
  capture_file_path: string;
  capturing: boolean;
  side: string;
  max_bytes: number | null;
}

async function makeLab({ started = true } = {}) {
  const { client, server } = bench;
  const project = await createProject(client);
  const pc = (number: 1 | 2) => createNode(client, project, 'vpcs', { properties: { startup_script: `ip 10.0.0.${number}/24\n` } });
  const [one, other] = [await pc(1), await pc(2)];
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(one), end(other)] });
  const path = `${project.path}/links/${link_id}`;
  const lab = {
    project,
    one,
    path,
    link: () => client.get<Record<string, unknown>>(path),
    list: () => client.get<Capture[]>(`${path}/captures`),
    add: (body: object = {}) => client.post<Capture>(`${path}/captures`, body),
    remove: (id: string) => client.delete(`${path}/captures/${id}`),
    stream: (id: string) => openPcap(`${server.url}${path}/captures/${id}/pcap`),
    onCompute: () => client.get<{ capture_id: string | null }[]>(`${project.computePath}/captures`),
    startNodes: async () => expectStatus(await client.send(`POST ${project.path}/nodes/start`, { limitMs: 60_000 }), 204),
    pings: async (name: string) => {
      const file = join(server.dataDir, 'projects', project.id, 'project-files', 'captures', name);
      return parsePcap(await readFile(file)).frames.filter(isPing).length;
    },
  };
  if (started) await lab.startNodes();
  return lab;
}
type Lab = Awaited<ReturnType<typeof makeLab>>;

/** Sent by the first PC; `expected`: its output. */
async function ping({ project, one }: Lab, expected = /seq=1 ttl=/, address = '10.0.0.2'): Promise<void> {
  const { console } = await bench.client.get<NodeBody>(`${project.path}/nodes/${one.node_id}`);
  const telnet = await openTelnet(console as number);
  await skipHistory(telnet);
  await command(telnet, `ping ${address} -c 1`, expected).finally(() => telnet.close());
}

describe('a captured link that is connected to another node', () => {
  test('is captured in the same files, also when undo or a failure connects it as before', async () => {
    const lab = await makeLab();
    await bench.client.post(`${lab.path}/start_capture`, { capture_file_name: 'gns3.pcap' });
    await lab.add({ capture_file_name: 'own.pcap' });
    await ping(lab);
    const { nodes } = (await lab.link()) as { nodes: object[] };
    const third = await createNode(bench.client, lab.project, 'vpcs', { properties: { startup_script: 'ip 10.0.0.3/24\n' } });
    await bench.client.post(`${lab.project.path}/nodes/${third.node_id}/start`, {}, 200);
    const moved = await bench.client.put<Record<string, unknown>>(`${lab.path}/ends`, { nodes: [nodes[0], end(third)] });
    assert.equal(moved.capture_file_name, 'gns3.pcap');
    const isCapturing = async () => (await lab.link()).capturing === true && (await lab.list())[0]?.capturing === true;
    await waitFor(isCapturing, { what: 'both captures at the new ports' });
    // The PC remembers the Ethernet address of the other one's IP address.
    await ping(lab, undefined, '10.0.0.3');
    // A ping that takes long is sent again: there may be more.
    const captured = async (file: string, frames: number) => (await lab.pings(file)) >= frames;
    await waitFor(() => captured('gns3.pcap', 4), { what: 'the pings before and after in one file' });
    await waitFor(() => captured('own.pcap', 4), { what: 'the same in the other file' });
    await bench.client.post(`${lab.project.path}/undo`, {}, 200);
    await waitFor(isCapturing, { what: 'both captures at the old ports' });
    const ports_mapping = [{ name: 'none', interface: 'patchbay-none', type: 'ethernet', port_number: 0 }];
    const cloud = await createNode(bench.client, lab.project, 'cloud', { properties: { ports_mapping } });
    // The port exists, and its interface does not: the link is deleted when that shows.
    const ends = { body: { nodes: [nodes[0], end(cloud)] } };
    expectFault(await bench.client.send(`PUT ${lab.path}/ends`, ends), 409, /patchbay-none/);
    await waitFor(isCapturing, { what: 'both captures after the failure' });
    const before = await lab.pings('own.pcap');
    await ping(lab);
    await waitFor(() => captured('own.pcap', before + 2), { what: 'the ping after the failure' });
    await bench.client.post(`${lab.path}/stop_capture`);
  });
});

const facts = (captures: readonly Capture[]) => captures.map(({ capture_id, capturing }) => [capture_id, capturing]);

describe('several captures of a link', () => {
  test('are refused while neither end runs, with bad values, and for a file that another capture writes', async () => {
    const lab = await makeLab({ started: false });
    const refused = async (body: object, status: number, says?: RegExp) =>
      expectFault(await bench.client.send(`POST ${lab.path}/captures`, { body }), status, says);
    await refused({}, 409, /running/);
    await lab.startNodes();
    for (const body of [{ side: 'left' }, { nonsense: 1 }, { capture_file_name: '../x.pcap' }, { capture_id: 'x' }]) {
      await refused(body, 400);
    }
    await lab.add({ capture_file_name: 'one.pcap' });
    await refused({ capture_file_name: 'one.pcap' }, 409, /one\.pcap/);
    const sameFile = { body: { capture_file_name: 'one.pcap' } };
    expectFault(await bench.client.send(`POST ${lab.path}/start_capture`, sameFile), 409, /one\.pcap/);
    await bench.client.post(`${lab.path}/start_capture`);
    // The capture of GNS3's API has no id there.
    for (const id of [crypto.randomUUID(), 'gns3', 'null']) {
      expectFault(await bench.client.send(`DELETE ${lab.path}/captures/${id}`), 404, /no capture/);
      expectFault(await bench.client.send(`GET ${lab.path}/captures/${id}/pcap`), 404, /no capture/);
    }
    assert.equal((await lab.link()).capturing, true);
  });

  test('see their side of the filters, have a stream each and are stopped one by one; the object of the link does not change', async () => {
    const lab = await makeLab();
    await ping(lab);
    await bench.client.put(lab.path, { filters: { frequency_drop: [-1] } }, 201);
    const events = await openWebSocket(`${bench.server.url}${lab.project.path}/notifications/ws`);
    const notified = (action: string, id: string) =>
      events.next((message) => {
        const notice = JSON.parse(String(message)) as { action: string; event: Partial<Capture> };
        return notice.action === action && notice.event.capture_id === id;
      });
    const link = await lab.link();
    const before = await lab.add({ side: 'before' });
    const after = await lab.add({ capture_file_name: 'after.pcap' });
    await notified('link_capture.created', before.capture_id);
    assert.notEqual(before.capture_file_name, after.capture_file_name);
    assert.deepEqual(await lab.list(), [before, after]);
    assert.deepEqual(await lab.link(), link);
    await bench.client.post(`${lab.path}/start_capture`, { side: 'before', capture_file_name: 'gns3.pcap' });
    const [stream, still] = [await lab.stream(before.capture_id), await lab.stream(after.capture_id)];
    await ping(lab, /timeout|not reachable/);
    const seen = () => wholeFrames(stream.bytes()).length;
    await waitFor(() => seen() > 0, { what: 'frames before the filters' });
    const { captures } = await bench.client.get<{ captures: { capture_id: string | null }[] }>(`${lab.path}/stats`);
    assert.deepEqual(
      captures.map(({ capture_id }) => capture_id),
      [null, before.capture_id, after.capture_id],
    );
    await lab.remove(before.capture_id);
    await notified('link_capture.deleted', before.capture_id);
    await stream.ended;
    assert.ok(stream.bytes().equals(await readFile(before.capture_file_path)));
    assert.deepEqual(facts(await lab.list()), [[after.capture_id, true]]);
    assert.equal((await lab.link()).capturing, true);
    await bench.client.post(`${lab.path}/stop_capture`);
    assert.ok(parsePcap(await readFile(before.capture_file_path.replace(/[^/]+$/, 'gns3.pcap'))).frames.length > 0);
    await bench.client.put(lab.path, { filters: {} }, 201);
    await ping(lab);
    await waitFor(() => wholeFrames(still.bytes()).filter(isPing).length >= 2, { what: 'the ping after the filters' });
    expectStatus(await bench.client.send(`DELETE ${lab.path}`), 204);
    await still.ended;
    assert.deepEqual(await lab.onCompute(), []);
    events.close();
  });

  test('end at their limits, and with the node that captures', async () => {
    const lab = await makeLab();
    const short = await lab.add({ max_bytes: 400 });
    const long = await lab.add();
    assert.deepEqual([short.max_bytes, long.max_bytes], [400, null]);
    for (let count = 0; count < 3; count += 1) await ping(lab);
    await waitFor(async () => (await lab.list()).length === 1, { what: 'the end at the limit' });
    assert.deepEqual(facts(await lab.list()), [[long.capture_id, true]]);
    assert.ok((await readFile(short.capture_file_path)).length <= 400);
    const replies = await Promise.all(
      Array.from({ length: 32 }, () => bench.client.send(`POST ${lab.path}/captures`, { body: {} })),
    );
    assert.deepEqual(replies.map(({ status }) => status).sort(), [...Array(31).fill(201), 409]);
    expectFault(await bench.client.send(`POST ${lab.path}/start_capture`, { body: {} }), 409, /has 32 captures/);
    expectStatus(await bench.client.send(`POST ${lab.project.path}/nodes/stop`, { limitMs: 60_000 }), 204);
    await waitFor(async () => (await lab.list()).length === 0, { what: 'the end with the node' });
    assert.deepEqual(await lab.onCompute(), []);
  });

  test('continue when server or fabric were killed', async () => {
    const lab = await makeLab();
    const [one, other] = [await lab.add({ capture_file_name: 'one.pcap' }), await lab.add({ capture_file_name: 'two.pcap' })];
    await ping(lab);
    await bench.server.kill9();
    await bench.server.restart();
    assert.deepEqual(await waitFor(lab.list, { what: 'the project after the restart' }), [one, other]);
    await ping(lab);
    for (const name of ['one.pcap', 'two.pcap']) {
      await waitFor(async () => (await lab.pings(name)) >= 4, { what: `both pings in ${name}` });
    }
    const { dataDir, runtimeDirectory } = bench.server;
    const fabric = processesOf(dataDir, runtimeDirectory).find(({ commandLine }) => commandLine.includes('fabric/main.'));
    assert.ok(fabric);
    process.kill(fabric.pid, 'SIGKILL');
    // Frames sent meanwhile are lost: pings until an answer comes.
    await waitFor(
      () =>
        ping(lab).then(
          () => true,
          () => false,
        ),
      { what: 'a ping through the next fabric', limitMs: 60_000 },
    );
    for (const name of ['one.pcap', 'two.pcap']) {
      await waitFor(async () => (await lab.pings(name)) >= 6, { what: `the third ping in ${name}` });
    }
    assert.deepEqual(await lab.list(), [one, other]);
  });

  test('wait when their project is opened again, and are resumed in their files', async () => {
    const lab = await makeLab();
    const resumed = await lab.add({ capture_file_name: 'resumed.pcap', side: 'before' });
    const stopped = await lab.add({ capture_file_name: 'stopped.pcap' });
    await bench.client.post(`${lab.path}/start_capture`, { capture_file_name: 'gns3.pcap' });
    await ping(lab);
    await bench.client.post(`${lab.project.path}/close`, {}, 204);
    await bench.server.kill9();
    await bench.server.restart();
    await bench.client.post(`${lab.project.path}/open`);
    assert.deepEqual(
      new Map(facts(await lab.list()) as [string, boolean][]),
      new Map([
        [resumed.capture_id, false],
        [stopped.capture_id, false],
      ]),
    );
    expectFault(await bench.client.send(`GET ${lab.path}/captures/${resumed.capture_id}/pcap`), 409, /not captured/);
    await lab.remove(stopped.capture_id);
    await lab.startNodes();
    await waitFor(async () => (await lab.list()).every(({ capturing }) => capturing), { what: 'the capture to be resumed' });
    await waitFor(async () => (await lab.link()).capturing, { what: "GNS3's capture to be resumed" });
    assert.deepEqual(await lab.list(), [resumed]);
    await ping(lab);
    for (const name of ['resumed.pcap', 'gns3.pcap']) {
      await waitFor(async () => (await lab.pings(name)) >= 4, { what: `the pings of both times in ${name}` });
    }
    assert.equal(await lab.pings('stopped.pcap'), 2);
  });
});
