/** Captures by the compute's routes: the file, the stream of it, and what survives. */
import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { isPing, openPcap, parsePcap, wholeFrames } from '../../support/pcap.ts';
import { expectFault, expectStatus } from '../../support/raw-http.ts';
import { command, openTelnet, skipHistory } from '../../support/telnet.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, withServer } from '../../support/with-server.ts';

const bench = await withServer();
let project: ProjectHandle;
let folder: string;
before(async () => {
  project = await createProject(bench.client);
  folder = join(bench.server.dataDir, 'projects', project.id, 'project-files', 'captures');
});

interface Pair {
  one: NodeBody;
  other: NodeBody;
  /** Path of the first node's port on the compute. */
  port: string;
  linkPath: string;
}

async function makePair(): Promise<Pair> {
  const pc = (number: number) =>
    createNode(bench.client, project, 'vpcs', {
      properties: { startup_script: `set pcname P${number}\nip 10.0.0.${number}/24\n` },
    });
  const [one, other] = [await pc(1), await pc(2)];
  const link = await bench.client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(one), end(other)] });
  const port = `${project.computePath}/vpcs/nodes/${one.node_id}/adapters/0/ports/0`;
  return { one, other, port, linkPath: `${project.path}/links/${link.link_id}` };
}

const act = async (node: NodeBody, verb: string) =>
  expectStatus(await bench.client.send(`POST ${project.path}/nodes/${node.node_id}/${verb}`), 200);
const startCapture = async (port: string, capture_file_name: string, more: object = {}) =>
  expectStatus(await bench.client.send(`POST ${port}/start_capture`, { body: { capture_file_name, ...more } }), 200).json<{
    pcap_file_path: string;
  }>().pcap_file_path;
const stopCapture = async (port: string) => expectStatus(await bench.client.send(`POST ${port}/stop_capture`), 204);
const read = async (path: string) => parsePcap(await readFile(path));
const pingsIn = (path: string, count: number) =>
  waitFor(async () => (await read(path)).frames.filter(isPing).length >= count, {
    what: `${count} pings in ${path}`,
  });

async function ping({ console }: NodeBody, address = '10.0.0.2'): Promise<void> {
  const telnet = await openTelnet(console as number);
  await skipHistory(telnet);
  await command(telnet, `ping ${address} -c 1`, /seq=1 ttl=/).finally(() => telnet.close());
}

describe('a capture on a compute', () => {
  it('is written, streamed to many, and complete when it is stopped', async () => {
    const { one, other, port } = await makePair();
    await Promise.all([act(one, 'start'), act(other, 'start')]);
    const path = await startCapture(port, 'first.pcap', { data_link_type: 'DLT_EN10MB' });
    assert.equal(path, join(folder, 'first.pcap'));
    expectFault(await bench.client.send(`POST ${port}/start_capture`, { body: { capture_file_name: 'b.pcap' } }), 409, /already/);
    const streams = await Promise.all([1, 2, 3].map(() => openPcap(`${bench.server.url}${port}/pcap`)));
    for (const { status, headers } of streams) {
      assert.equal(status, 200);
      assert.equal(headers['content-type'], 'application/vnd.tcpdump.pcap');
      assert.equal(headers['transfer-encoding'], 'chunked');
    }
    const [slow, quick] = streams;
    await waitFor(() => (quick?.bytes().length ?? 0) >= 24, { what: 'the header before any frame' });
    slow?.message.pause();
    await ping(one);
    await waitFor(() => wholeFrames(quick?.bytes() ?? Buffer.alloc(0)).filter(isPing).length >= 2, {
      what: 'the ping, there and back',
    });
    slow?.message.resume();
    await stopCapture(port);
    await Promise.all(streams.map(({ ended }) => ended));
    const file = await readFile(path);
    for (const stream of streams) assert.ok(stream.bytes().equals(file));
    const { magic, version, snapLength, linkType } = parsePcap(file);
    assert.deepEqual([magic, version, snapLength, linkType], [0xa1b2c3d4, '2.4', 65_535, 1]);
    await stopCapture(port);
    expectFault(await bench.client.send(`GET ${port}/pcap`), 409, /not captured/);
    await ping(one);
    assert.ok((await readFile(path)).equals(file));
  });

  it('on a stopped node starts with the node, also when the other end does not run', async () => {
    const { one, port } = await makePair();
    const path = await startCapture(port, 'later.pcap');
    assert.equal((await stat(path)).size, 24);
    const stream = await openPcap(`${bench.server.url}${port}/pcap`);
    await act(one, 'start');
    const telnet = await openTelnet(one.console as number);
    // An ARP request without an answer.
    await command(telnet, 'ping 10.0.0.2 -c 1', /not reachable/).finally(() => telnet.close());
    await waitFor(async () => (await read(path)).frames.some(({ data }) => data.readUInt16BE(12) === 0x0806), {
      what: 'an ARP request',
    });
    stream.close();
  });

  it('takes names without a folder, and no name twice at a time', async () => {
    const [{ port }, second] = [await makePair(), await makePair()];
    for (const name of ['../x.pcap', '/etc/x', 'a/b', '..', '.', ' ', 'a\nb', '\\..\\x', 'x'.repeat(256)]) {
      expectFault(await bench.client.send(`POST ${port}/start_capture`, { body: { capture_file_name: name } }), 400);
    }
    await startCapture(port, 'mine.pcap');
    const again = { body: { capture_file_name: 'mine.pcap' }, headers: { 'user-agent': 'Patchbay/2.2.60' } };
    expectFault(await bench.client.send(`POST ${second.port}/start_capture`, again), 409, /Another capture/);
    // A client of GNS3 gets another file.
    assert.equal(await startCapture(second.port, 'mine.pcap'), join(folder, 'mine-2.pcap'));
    await stopCapture(second.port);
    await stopCapture(port);
    await startCapture(second.port, 'mine.pcap');
    const [entry] = await bench.client
      .get<object[]>(`${project.computePath}/captures`)
      .then((list) =>
        (list as { capture_file_name: string }[]).filter(({ capture_file_name }) => capture_file_name === 'mine.pcap'),
      );
    assert.deepEqual(entry, {
      capture_id: null,
      node_id: second.one.node_id,
      adapter_number: 0,
      port_number: 0,
      capture_file_name: 'mine.pcap',
      pcap_file_path: join(folder, 'mine.pcap'),
      data_link_type: 'DLT_EN10MB',
      side: 'after',
      nanoseconds: false,
      max_bytes: null,
      ends_at: null,
    });
  });

  it('of an unconnected port is refused', async () => {
    const { node_id } = await createNode(bench.client, project);
    const port = `${project.computePath}/vpcs/nodes/${node_id}/adapters/0/ports/0`;
    expectFault(await bench.client.send(`POST ${port}/start_capture`, { body: { capture_file_name: 'x' } }), 409, /not connected/);
    expectFault(await bench.client.send(`GET ${port}/pcap`), 409);
  });

  it('that reaches its limit ends, and so do its streams', async () => {
    const { one, other, port } = await makePair();
    await Promise.all([act(one, 'start'), act(other, 'start')]);
    const path = await startCapture(port, 'short.pcap', { max_bytes: 400 });
    const stream = await openPcap(`${bench.server.url}${port}/pcap`);
    for (let count = 0; count < 3; count += 1) await ping(one);
    await stream.ended;
    const { size } = await stat(path);
    assert.ok(size > 200 && size <= 400, `${size} bytes`);
    expectFault(await bench.client.send(`GET ${port}/pcap`), 409);
  });

  it('continues in its file when the server was killed, and when the fabric was', async () => {
    const { one, other, port } = await makePair();
    await Promise.all([act(one, 'start'), act(other, 'start')]);
    const path = await startCapture(port, 'long.pcap');
    await ping(one);
    await pingsIn(path, 2);
    await bench.server.kill9();
    await bench.server.restart();
    await ping(one);
    await pingsIn(path, 4);
    const fabric = (await readFile(join(bench.server.dataDir, 'state', 'fabric.log'), 'utf8')).matchAll(/fabric (\d+) listens/g);
    process.kill(Number([...fabric].at(-1)?.[1]), 'SIGKILL');
    await ping(one);
    await pingsIn(path, 6);
    await stopCapture(port);
    assert.equal((await read(path)).magic, 0xa1b2c3d4);
  });

  it('ends with its link, and its readers receive all of it', async () => {
    const { one, other, port, linkPath } = await makePair();
    await Promise.all([act(one, 'start'), act(other, 'start')]);
    const path = await startCapture(port, 'gone.pcap');
    const stream = await openPcap(`${bench.server.url}${port}/pcap`);
    await ping(one);
    expectStatus(await bench.client.send(`DELETE ${linkPath}`), 204);
    await stream.ended;
    assert.ok(stream.bytes().equals(await readFile(path)));
    assert.ok((await read(path)).frames.filter(isPing).length >= 2);
  });
});
