/** Captures that ran when their project was closed: when they are resumed, and when not. */
import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { DurableMap } from '../../src/lib/durable-map.ts';
import { isPing, parsePcap } from '../support/pcap.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { command, openTelnet, skipHistory } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, withServer } from '../support/with-server.ts';

const bench = await withServer();

interface LinkBody {
  capturing: boolean;
  capture_file_name: string | null;
}

async function makeLab() {
  const { client, server } = bench;
  const project = await createProject(client);
  const pc = (number: 1 | 2) => createNode(client, project, 'vpcs', { properties: { startup_script: `ip 10.0.0.${number}/24\n` } });
  const [one, other] = [await pc(1), await pc(2)];
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(one), end(other)] });
  const path = `${project.path}/links/${link_id}`;
  const file = (name: string) => join(server.dataDir, 'projects', project.id, 'project-files', 'captures', name);
  return {
    project,
    one,
    path,
    file,
    link: () => client.get<LinkBody>(path),
    start: (body: object) => client.post<LinkBody>(`${path}/start_capture`, body),
    startNodes: async () => expectStatus(await client.send(`POST ${project.path}/nodes/start`, { limitMs: 60_000 }), 204),
    close: () => client.post(`${project.path}/close`, {}, 204),
    open: () => client.post(`${project.path}/open`),
    pings: async (name: string) => parsePcap(await readFile(file(name))).frames.filter(isPing).length,
  };
}
type Lab = Awaited<ReturnType<typeof makeLab>>;

const capturing = (lab: Lab) => waitFor(async () => (await lab.link()).capturing, { what: 'the capture to be resumed' });

async function ping({ project, one }: Lab): Promise<void> {
  const { console } = await bench.client.get<NodeBody>(`${project.path}/nodes/${one.node_id}`);
  const telnet = await openTelnet(console as number);
  await skipHistory(telnet);
  await command(telnet, 'ping 10.0.0.2 -c 1', /seq=1 ttl=/).finally(() => telnet.close());
}

describe('a capture that ran when the project was closed', () => {
  test('is resumed in its file when a node is started, also after a restart of the server', async () => {
    const lab = await makeLab();
    await lab.startNodes();
    await lab.start({ capture_file_name: 'long.pcap', nanoseconds: true, side: 'before', max_seconds: 3600 });
    await ping(lab);
    await lab.close();
    assert.ok((await lab.pings('long.pcap')) >= 2);
    await bench.server.kill9();
    await bench.server.restart();
    await lab.open();
    assert.deepEqual([(await lab.link()).capturing, (await lab.link()).capture_file_name], [false, 'long.pcap']);
    await lab.startNodes();
    await capturing(lab);
    const [entry] = await bench.client.get<Record<string, unknown>[]>(`${lab.project.computePath}/captures`);
    assert.deepEqual([entry?.side, entry?.nanoseconds, entry?.max_bytes], ['before', true, null]);
    assert.ok(Math.abs(Date.parse(String(entry?.ends_at)) - Date.now() - 3_600_000) < 120_000, String(entry?.ends_at));
    await ping(lab);
    await waitFor(async () => (await lab.pings('long.pcap')) >= 4, { what: 'the pings of both times in one file' });
    // The capture waits again after each closing.
    await lab.close();
    await lab.open();
    await lab.startNodes();
    await capturing(lab);
  });

  test('is resumed at once when one end always runs', async () => {
    const project = await createProject(bench.client);
    const ethernetSwitch = await createNode(bench.client, project, 'ethernet_switch');
    const pc = await createNode(bench.client, project, 'vpcs');
    const nodes = [end(pc), end(ethernetSwitch)];
    const { link_id } = await bench.client.post<{ link_id: string }>(`${project.path}/links`, { nodes });
    const path = `${project.path}/links/${link_id}`;
    await bench.client.post(`${path}/start_capture`, { capture_file_name: 'switch.pcap' });
    await bench.client.post(`${project.path}/close`, {}, 204);
    await bench.client.post(`${project.path}/open`);
    await waitFor(async () => (await bench.client.get<LinkBody>(path)).capturing, { what: 'the capture to be resumed' });
  });

  test('is not resumed when it was stopped in between, or before a restart of the server', async () => {
    const lab = await makeLab();
    await lab.startNodes();
    await lab.start({ capture_file_name: 'stopped.pcap' });
    await lab.close();
    await lab.open();
    await bench.client.post(`${lab.path}/stop_capture`);
    await lab.startNodes();
    await ping(lab);
    assert.equal((await lab.link()).capturing, false);
    await lab.start({ capture_file_name: 'other.pcap' });
    await lab.close();
    await lab.open();
    await lab.startNodes();
    await capturing(lab);
    await bench.client.post(`${lab.path}/stop_capture`);
    await bench.server.kill9();
    await bench.server.restart();
    const link = await waitFor(() => lab.link(), { what: 'the project after the restart' });
    assert.deepEqual([link.capturing, link.capture_file_name], [false, 'other.pcap']);
    await lab.close();
    await lab.open();
    assert.equal((await lab.link()).capture_file_name, null);
  });
});

describe('a capture that the controller did not store', () => {
  test('is shown when its compute has it, and has ended when its compute does not', async () => {
    const lab = await makeLab();
    await lab.startNodes();
    const port = `${lab.project.computePath}/vpcs/nodes/${lab.one.node_id}/adapters/0/ports/0`;
    await bench.client.post(`${port}/start_capture`, { capture_file_name: 'direct.pcap' }, 200);
    assert.equal((await lab.link()).capturing, false);
    const afterKill = async () => {
      await bench.server.kill9();
      await bench.server.restart();
      return waitFor(lab.link, { what: 'the project after the restart' });
    };
    const adopted = await afterKill();
    assert.deepEqual([adopted.capturing, adopted.capture_file_name], [true, 'direct.pcap']);
    await bench.client.post(`${port}/stop_capture`, {}, 204);
    const ended = await afterKill();
    assert.deepEqual([ended.capturing, ended.capture_file_name], [false, 'direct.pcap']);
    await lab.startNodes();
    await lab.start({ capture_file_name: 'next.pcap' });
    await bench.client.post(`${lab.path}/stop_capture`);
  });
});

describe('the state of 0.1', () => {
  test('is taken over: a waiting capture is resumed, and the last file of a link is shown', async () => {
    const lab = await makeLab();
    const [a, b] = [await createNode(bench.client, lab.project), await createNode(bench.client, lab.project)];
    const { link_id } = await bench.client.post<{ link_id: string }>(`${lab.project.path}/links`, { nodes: [end(a), end(b)] });
    await bench.server.terminate();
    const state = (name: string) => join(bench.server.dataDir, 'state', name);
    const facts = { data_link_type: 'DLT_EN10MB', side: 'before', nanoseconds: false, max_bytes: null, ends_at: null };
    const waiting = { ...facts, link_id: lab.path.slice(-36), capture_id: null, capture_file_name: 'waiting.pcap' };
    await rm(state('captures.log'));
    await writeMap(state('captures.log'), lab.project.id, [waiting]);
    await writeMap(state('capture-names.log'), `${lab.project.id}/${link_id}`, 'last.pcap');
    await bench.server.restart();
    const seen = async () => {
      const links = [await lab.link(), await bench.client.get<LinkBody>(`${lab.project.path}/links/${link_id}`)];
      return links.map(({ capturing, capture_file_name }) => [capturing, capture_file_name]);
    };
    const expected = [
      [false, 'waiting.pcap'],
      [false, 'last.pcap'],
    ];
    assert.deepEqual(await waitFor(seen, { what: 'the project after the restart' }), expected);
    await bench.server.kill9();
    await bench.server.restart();
    assert.deepEqual(await waitFor(seen, { what: 'the project after the kill' }), expected);
    await lab.startNodes();
    await capturing(lab);
    await ping(lab);
    await bench.client.post(`${lab.path}/stop_capture`);
    assert.ok((await lab.pings('waiting.pcap')) >= 2);
  });
});

async function writeMap(path: string, key: string, value: unknown): Promise<void> {
  const map = await DurableMap.open<unknown>(path, assert.fail);
  await map.set(key, value);
  await map.close();
}

describe('a capture that appends to a file', () => {
  test('keeps the packets of the file; without append it is replaced; a file of another format is refused', async () => {
    const lab = await makeLab();
    await lab.startNodes();
    const again = async (body: object) => {
      await lab.start({ capture_file_name: 'a.pcap', ...body });
      await ping(lab);
      await bench.client.post(`${lab.path}/stop_capture`);
      return lab.pings('a.pcap');
    };
    assert.equal(await again({ append: true }), 2);
    assert.equal(await again({ append: true }), 4);
    const other = { capture_file_name: 'a.pcap', append: true, nanoseconds: true };
    expectFault(await bench.client.send(`POST ${lab.path}/start_capture`, { body: other }), 400, /kind of capture/);
    assert.equal(await lab.pings('a.pcap'), 4);
    assert.equal(await again({}), 2);
    await writeFile(lab.file('text.pcap'), 'no capture');
    const text = { capture_file_name: 'text.pcap', append: true };
    expectFault(await bench.client.send(`POST ${lab.path}/start_capture`, { body: text }), 400, /kind of capture/);
    assert.equal(await readFile(lab.file('text.pcap'), 'utf8'), 'no capture');
  });
});
