/**
 * Slices on hosts that do not reach each other, and then do: a link between them goes through the controller, and directly; an image goes to
 * each from the controller, and to one from which the others read it. `PATCHBAY_TEST_IMAGE_MIB` sets the size of the image.
 */
import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { relayHello } from '../../src/lib/relay-hello.ts';
import type { ImageArrival } from '../../src/schema/image-transfer.ts';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import { HostNetwork } from '../support/host-network.ts';
import { noNamespaces } from '../support/network-namespace.ts';
import { takePortBlock } from '../support/port-block.ts';
import { RawClient } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { clientOfSlice, startSlice, type TestSlice } from '../support/slices.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle } from '../support/with-server.ts';

const skip = noNamespaces() ?? false;
/** More than one piece. */
const imageBytes = (Number(process.env.PATCHBAY_TEST_IMAGE_MIB) || 12) * 2 ** 20;
/** Image folder of each server. */
const folder = 'images/QEMU';

describe('hosts that do not reach each other', { skip }, () => {
  const owned = new AsyncDisposableStack();
  let network: HostNetwork;
  let client: RawClient;
  let project: ProjectHandle;
  let link: string;
  let relayPort: number;
  let server: RunningServer;
  let slices: TestSlice[];
  const nodes: NodeBody[] = [];
  after(() => owned.disposeAsync());
  before(async () => {
    network = await HostNetwork.make(3);
    owned.defer(() => network.remove());
    await network.isolate(true);
    const block = await takePortBlock();
    owned.defer(() => block.release());
    relayPort = Number(block.settings.console_start_port_range);
    server = await startServer({
      args: ['--host', network.address],
      config: { Qemu: { acceleration: 'off' }, Cluster: { relay_port: relayPort } },
    });
    owned.defer(() => server.stop());
    client = new RawClient(server.url);
    owned.defer(() => client.close());
    project = await createProject(client);
    const started = network.hosts.map(async ({ launcher }) => {
      const slice = await startSlice(client, server.url, { launcher });
      owned.defer(() => slice.server.stop());
      return slice;
    });
    await Promise.allSettled(started);
    slices = await Promise.all(started);
    for (const [index, slice] of slices.slice(0, 2).entries()) {
      const properties = { startup_script: `ip 10.0.0.${index + 1}/24\n` };
      nodes.push(await createNode(client, project, 'vpcs', { compute_id: slice.id, properties }));
    }
    const made = await client.post<{ link_id: string }>(`${project.path}/links`, {
      nodes: nodes.map((node) => end(node)),
      filters: { delay: [30] },
    });
    link = `${project.path}/links/${made.link_id}`;
    await client.post(`${project.path}/nodes/start`, {}, 204);
  });

  const stats = () => client.get<LinkStats>(`${link}/stats`);
  const goes = (via: 'direct' | 'relay') =>
    waitFor(
      async () => {
        const { path, carrier } = await stats();
        return path?.via === via && path.rtt_ms !== null && carrier === 'stream' ? path : undefined;
      },
      { what: `frames that go ${via}`, everyMs: 200, limitMs: 60_000 },
    );
  const reached = async () => {
    const socket = await openWebSocket(`${client.base.origin}${project.path}/nodes/${nodes[0]?.node_id}/console/ws`);
    try {
      const output = () => socket.messages.map(String).join('');
      await waitFor(
        () => {
          socket.send(Buffer.from('ping 10.0.0.2 -c 1 -w 900\r'));
          return /time=([\d.]+) ms/.test(output());
        },
        { what: 'a ping that is answered', everyMs: 1_500 },
      );
      return Number(/time=([\d.]+) ms/.exec(output())?.[1]);
    } finally {
      socket.close();
    }
  };

  it('carries frames through the controller, with the delay that the link asks for', async () => {
    const path = await goes('relay');
    assert.ok(Number(path.rtt_ms) > 0);
    const trip = await reached();
    // The end that delays frames measures on a busy machine a longer path than the one reported, and the ping has a shorter one.
    assert.ok(trip >= 40, `${trip} ms for 30 ms in each direction, path ${path.rtt_ms}`);
    assert.equal((await client.send(`PUT ${link}`, { body: { filters: {} } })).status, 201);
    const { path: plain } = await stats();
    assert.ok(Number(plain?.excess_ms) > 0, 'without a delay the path is the excess');
  });

  it('lets no stranger meet an end of it', async () => {
    for (const hello of [
      relayHello('accept', randomBytes(32).toString('hex')),
      Buffer.from(createHmac('sha256', 'x').update('y').digest('hex')),
      Buffer.alloc(41),
    ]) {
      const socket = connect(relayPort, network.address);
      socket.on('error', () => undefined);
      let received = 0;
      socket.on('data', (chunk) => {
        received += chunk.length;
      });
      socket.write(hello);
      await once(socket, 'close');
      assert.equal(received, 0);
    }
    assert.equal((await stats()).path?.via, 'relay');
  });

  it('goes directly when the hosts reach each other', async () => {
    await network.isolate(false);
    await goes('direct');
    await reached();
  });

  /** Makes an image of the controller. */
  const makeImage = async (size: number) => {
    const block = randomBytes(Math.min(size, 2 ** 20));
    const content = Buffer.alloc(size, block);
    const name = `${block.toString('hex', 0, 4)}.img`;
    await mkdir(join(server.dataDir, folder), { recursive: true });
    await writeFile(join(server.dataDir, folder, name), content);
    return { name, content, sha256: createHash('sha256').update(content).digest('hex') };
  };
  const need = (name: string, those: readonly TestSlice[]) =>
    Promise.all(
      those.map(({ id }) => createNode(client, project, 'qemu', { compute_id: id, properties: { hda_disk_image: name } })),
    );
  const isAt = async ({ server: { dataDir } }: TestSlice, name: string, content: Buffer) =>
    content.equals(await readFile(join(dataDir, folder, name)));

  it('are all sent an image by the controller', async () => {
    await network.isolate(false);
    await network.refuse(true);
    const { name, content } = await makeImage(100_000);
    await need(name, slices.slice(0, 2));
    for (const slice of slices.slice(0, 2)) assert.ok(await isAt(slice, name, content));
    await network.refuse(false);
  });

  it('read an image from each other when they do: it leaves the controller once', async () => {
    const { name, content } = await makeImage(imageBytes);
    const before = await network.sentBytes();
    await need(name, slices);
    const sent = (await network.sentBytes()) - before;
    for (const slice of slices) assert.ok(await isAt(slice, name, content));
    assert.ok(sent >= imageBytes && sent < 1.5 * imageBytes, `${sent} bytes for an image of ${imageBytes}`);
  });

  it('continue an image after what has arrived, and accept nothing but the image', async () => {
    const [slice] = slices as [TestSlice];
    const url = `http://${network.hosts[0]?.address}:${slice.server.port}`;
    const direct = await clientOfSlice(slice, url);
    const stranger = new RawClient(url);
    const arrivals = '/v2/compute/image_arrivals';
    const partOf = async ({ name: filename, content, sha256 }: Awaited<ReturnType<typeof makeImage>>, bytes: Buffer) => {
      const start = { node_type: 'qemu', filename, filesize: content.length, sha256 };
      const { arrival_id } = await direct.post(arrivals, start);
      const append = (from: number, raw: Buffer) => direct.send(`POST ${arrivals}/${arrival_id}/bytes/${from}`, { raw });
      assert.equal((await append(1, bytes)).status, 400);
      assert.equal((await append(0, bytes)).status, 204);
      assert.deepEqual(await direct.post(arrivals, start), { arrival_id, received: bytes.length, problem: null });
      return { path: `${arrivals}/${arrival_id}`, start };
    };
    try {
      const image = await makeImage(3_000_000);
      await partOf(image, image.content.subarray(0, 2_000_000));
      const before = await network.sentBytes();
      await need(image.name, [slice]);
      assert.ok(await isAt(slice, image.name, image.content));
      assert.ok((await network.sentBytes()) - before < 2_000_000, 'the rest only');
      const spoilt = await makeImage(200_000);
      await partOf(spoilt, Buffer.alloc(200_000, 'x'));
      await need(spoilt.name, [slice]);
      assert.ok(await isAt(slice, spoilt.name, spoilt.content));

      const choice = { node_type: 'qemu', filename: image.name };
      const departures = '/v2/compute/image_departures';
      const { departure_id, secret } = await direct.post(departures, choice);
      const read = async (body: object, id = departure_id) =>
        (await stranger.send(`POST ${departures}/${id}/bytes`, { body })).status;
      const piece = { secret, from: 0, bytes: 10 };
      assert.equal(await read(piece), 200);
      assert.equal(await read({ ...piece, secret: '0'.repeat(64) }), 404);
      assert.equal(await read(piece, crypto.randomUUID()), 404);
      for (const wrong of [{ from: -1 }, { from: 3_000_000 }, { from: 1e300 }, { bytes: 0 }, { bytes: 1e12 }, { secret: 'x' }])
        assert.equal(await read({ ...piece, ...wrong }), 400, JSON.stringify(wrong));
      assert.equal((await stranger.send(`POST ${departures}`, { body: choice })).status, 401);
      assert.equal((await stranger.send(`POST ${arrivals}`, { body: {} })).status, 401);
      for (const filename of ['../slice.json', '.hidden', '/etc/hostname'])
        assert.ok(
          [403, 409].includes((await direct.send(`POST ${departures}`, { body: { ...choice, filename } })).status),
          filename,
        );
      await direct.delete(`${departures}/${departure_id}`);
      assert.equal(await read(piece), 404, 'the transfer has ended');

      const lost = await makeImage(50_000);
      const { path, start } = await partOf(lost, lost.content.subarray(0, 10));
      const answers = { redirect: 302, refusal: 404, flood: 200 };
      let answer: keyof typeof answers = 'redirect';
      await using hostile = createServer((_, reply) => {
        reply.writeHead(answers[answer], { location: url, connection: 'close' }).end(Buffer.alloc(1_000_000, 'y'));
      }).listen(0, network.address);
      await once(hostile, 'listening');
      const source = { protocol: 'http', host: network.address, port: (hostile.address() as AddressInfo).port };
      for (answer of ['redirect', 'refusal', 'flood'] as const) {
        const body = { ...source, departure_id, secret, bytes: 2 ** 23 };
        const { received, problem } = await direct.post<ImageArrival>(`${path}/fetch`, body, 200);
        assert.ok(answer === 'flood' ? received <= start.filesize : received === 10, `${answer}: ${received}`);
        assert.match(String(problem), /did not give it|more/);
      }
      const { received } = await direct.post<ImageArrival>(arrivals, start);
      if (received < start.filesize) {
        assert.equal((await direct.send(`POST ${path}/finish`)).status, 400);
        const rest = Buffer.alloc(start.filesize - received);
        assert.equal((await direct.send(`POST ${path}/bytes/${received}`, { raw: rest })).status, 204);
      }
      assert.deepEqual(await direct.post(`${path}/finish`, {}, 200), { placed: false });
      assert.equal((await direct.send(`POST ${path}/finish`)).status, 404);
      const names = await readdir(join(slice.server.dataDir, folder));
      assert.deepEqual(
        names.filter((name) => name.startsWith('.') || name === start.filename),
        [],
      );
    } finally {
      direct.close();
      stranger.close();
    }
  });
});
