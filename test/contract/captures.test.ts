/** Captures of links by GNS3's routes: which end captures, the notifications, the stream, and the end. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { isPing, openPcap, parsePcap, wholeFrames } from '../support/pcap.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { command, openTelnet, skipHistory } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';
import { assertShape, linkShape } from './shapes.ts';

interface LinkBody {
  link_id: string;
  capturing: boolean;
  capture_compute_id: string | null;
  capture_file_name: string | null;
  capture_file_path: string | null;
  [key: string]: unknown;
}

const bench = await withServer();
let project: ProjectHandle;
let folder: string;
before(async () => {
  project = await createProject(bench.client);
  folder = join(bench.server.dataDir, 'projects', project.id, 'project-files', 'captures');
});

async function makeLink(names?: [string, string]): Promise<{ one: NodeBody; other: NodeBody; path: string }> {
  const pc = (number: 1 | 2) =>
    createNode(bench.client, project, 'vpcs', {
      properties: { startup_script: `ip 10.0.0.${number}/24\n` },
      ...(names && { name: names[number - 1] }),
    });
  const [one, other] = [await pc(1), await pc(2)];
  const { link_id } = await bench.client.post<LinkBody>(`${project.path}/links`, { nodes: [end(one), end(other)] });
  return { one, other, path: `${project.path}/links/${link_id}` };
}

const act = async ({ node_id }: NodeBody, verb: string) =>
  expectStatus(await bench.client.send(`POST ${project.path}/nodes/${node_id}/${verb}`), 200);
const start = (path: string, body: object = {}) => bench.client.post<LinkBody>(`${path}/start_capture`, body);
const stop = (path: string) => bench.client.post<LinkBody>(`${path}/stop_capture`);
const facts = (link: LinkBody) => [link.capturing, link.capture_compute_id, link.capture_file_name, link.capture_file_path];

async function ping({ console }: NodeBody): Promise<void> {
  const telnet = await openTelnet(console as number);
  await skipHistory(telnet);
  await command(telnet, 'ping 10.0.0.2 -c 1', /seq=1 ttl=/).finally(() => telnet.close());
}

describe('a capture of a link', () => {
  test('is refused while neither end runs, and without a capture there is no stream', async () => {
    const { path } = await makeLink();
    expectFault(await bench.client.send(`POST ${path}/start_capture`), 409, /running/);
    expectFault(await bench.client.send(`GET ${path}/pcap`), 409, /not captured/);
    assert.equal((await stop(path)).capturing, false);
    for (const body of [{ data_link_type: 'DLT_NONSENSE' }, { nonsense: 1 }, { capture_file_name: 7 }, { side: 'left' }]) {
      expectFault(await bench.client.send(`POST ${path}/start_capture`, { body }), 400);
    }
    const body = { data_link_type: 'DLT_C_HDLC' };
    for (const route of ['start_capture', 'captures']) {
      expectFault(await bench.client.send(`POST ${path}/${route}`, { body }), 400, /not of the type DLT_C_HDLC.* as DLT_EN10MB$/);
    }
  });

  test('has its default name, and is announced, streamed and stopped', async () => {
    const { one, other, path } = await makeLink(['Büro PC', 'R-2_b']);
    await Promise.all([act(one, 'start'), act(other, 'start')]);
    const events = await openWebSocket(`${bench.server.url}${project.path}/notifications/ws`);
    const notified = (capturing: boolean) =>
      events.next((message) => {
        const { action, event } = JSON.parse(String(message)) as { action: string; event: LinkBody };
        return action === 'link.updated' && path.endsWith(event.link_id) && event.capturing === capturing;
      });
    const link = await start(path);
    assertShape(link, linkShape, 'link');
    const name = 'BroPC_0-0_to_R-2_b_0-0.pcap';
    assert.deepEqual(facts(link), [true, 'local', name, join(folder, name)]);
    await notified(true);
    assert.deepEqual(await bench.client.get(path), link);
    expectFault(await bench.client.send(`POST ${path}/start_capture`), 409, /already/);
    const stream = await openPcap(`${bench.server.url}${path}/pcap`);
    assert.deepEqual([stream.status, stream.headers['content-type']], [200, 'application/vnd.tcpdump.pcap']);
    assert.equal(stream.headers['transfer-encoding'], 'chunked');
    await waitFor(() => stream.bytes().length >= 24, { what: 'the header before any frame' });
    await ping(one);
    await waitFor(() => wholeFrames(stream.bytes()).filter(isPing).length >= 2, { what: 'the ping in the stream' });
    const stopped = { ...link, capturing: false, capture_compute_id: null };
    assert.deepEqual(await stop(path), stopped);
    await notified(false);
    await stream.ended;
    assert.ok(stream.bytes().equals(await readFile(join(folder, name))));
    assert.deepEqual(await stop(path), stopped);
    events.close();
  });

  test('is at the end that runs, and ends when that does', async () => {
    const { one, other, path } = await makeLink();
    await act(other, 'start');
    await start(path, { capture_file_name: 'other.pcap' });
    const [entry] = (await bench.client.get<{ node_id: string }[]>(`${project.computePath}/captures`)) as { node_id: string }[];
    assert.equal(entry?.node_id, other.node_id);
    const stream = await openPcap(`${bench.server.url}${path}/pcap`);
    await act(one, 'start');
    await ping(one);
    await act(other, 'stop');
    await stream.ended;
    await waitFor(async () => !(await bench.client.get<LinkBody>(path)).capturing, {
      what: 'the link to be shown without a capture',
    });
    assert.ok(parsePcap(stream.bytes()).frames.filter(isPing).length >= 2);
    assert.deepEqual(await bench.client.get(`${project.computePath}/captures`), []);
  });

  test('takes names without a folder only', async () => {
    const { one, path } = await makeLink();
    await act(one, 'start');
    for (const capture_file_name of ['../x.pcap', '/etc/x', 'a/b', '..']) {
      expectFault(await bench.client.send(`POST ${path}/start_capture`, { body: { capture_file_name } }), 400);
    }
  });

  test('can run beside captures of other links, each with any number of readers', async () => {
    const links = await Promise.all([makeLink(), makeLink(), makeLink()]);
    await Promise.all(links.flatMap(({ one, other }) => [act(one, 'start'), act(other, 'start')]));
    await Promise.all(links.map(({ path }) => start(path)));
    const readers = await Promise.all(
      links.flatMap(({ path }) => [1, 2, 3].map(() => openPcap(`${bench.server.url}${path}/pcap`))),
    );
    // The first reader never reads while the others do.
    readers[0]?.message.pause();
    await Promise.all(links.map(({ one }) => ping(one)));
    const pings = ({ bytes }: (typeof readers)[0]) => wholeFrames(bytes()).filter(isPing).length;
    await waitFor(() => readers.slice(1).every((reader) => pings(reader) >= 2), { what: 'the pings at all readers that read' });
    readers[0]?.message.resume();
    const stopped = await Promise.all(links.map(({ path }) => stop(path)));
    await Promise.all(readers.map(({ ended }) => ended));
    for (const [index, reader] of readers.entries()) {
      const file = await readFile(stopped[Math.floor(index / 3)]?.capture_file_path ?? '');
      assert.ok(reader.bytes().equals(file));
      // Pings of the reader's own link, and of no other.
      assert.equal(pings(reader), 2);
    }
  });

  test('shows what filters take away on its side before them', async () => {
    const { one, other, path } = await makeLink();
    await Promise.all([act(one, 'start'), act(other, 'start')]);
    await ping(one);
    await bench.client.put(path, { filters: { frequency_drop: [-1] } }, 201);
    const { capture_file_name } = await start(path, { side: 'before', nanoseconds: true });
    assert.equal(capture_file_name, `${one.name}_0-0_to_${other.name}_0-0_before.pcap`);
    const telnet = await openTelnet(one.console as number);
    await command(telnet, 'ping 10.0.0.2 -c 1', /timeout|not reachable/).finally(() => telnet.close());
    await stop(path);
    const { magic, frames } = parsePcap(await readFile(join(folder, String(capture_file_name))));
    assert.equal(magic, 0xa1b23c4d);
    assert.ok(frames.length > 0);
    await start(path, { capture_file_name: 'after.pcap' });
    await stop(path);
    assert.equal(parsePcap(await readFile(join(folder, 'after.pcap'))).frames.length, 0);
  });

  test('survives a kill of the server and a change of the link; its limit is announced', async () => {
    const { one, other, path } = await makeLink();
    await Promise.all([act(one, 'start'), act(other, 'start')]);
    const link = await start(path, { capture_file_name: 'limited.pcap', max_bytes: 1500 });
    await ping(one);
    await bench.server.kill9();
    await bench.server.restart();
    const after = await waitFor(() => bench.client.get<LinkBody>(path), { what: 'the project after the restart' });
    assert.deepEqual(facts(after), facts(link));
    const events = await openWebSocket(`${bench.server.url}${project.path}/notifications/ws`);
    const changed = await bench.client.put<LinkBody>(path, { filters: { delay: [5, 0] } }, 201);
    assert.deepEqual(facts(changed), facts(link));
    for (let count = 0; count < 7; count += 1) await ping(one);
    await events.next((message) => /limit of 1500 bytes/.test(String(message)));
    await waitFor(async () => !(await bench.client.get<LinkBody>(path)).capturing, {
      what: 'the link to be shown without a capture',
    });
    assert.ok(parsePcap(await readFile(join(folder, 'limited.pcap'))).frames.filter(isPing).length >= 2);
    events.close();
  });
});
