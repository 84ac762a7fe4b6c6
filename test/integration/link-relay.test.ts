/** A link between two slices on hosts that do not reach each other: through the controller, and directly when they do. */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { relayHello } from '../../src/lib/relay-hello.ts';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import { HostNetwork } from '../support/host-network.ts';
import { noNamespaces } from '../support/network-namespace.ts';
import { takePortBlock } from '../support/port-block.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { startSlice } from '../support/slices.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle } from '../support/with-server.ts';

const skip = noNamespaces() ?? false;

describe('a link between hosts that do not reach each other', { skip }, () => {
  const owned = new AsyncDisposableStack();
  let network: HostNetwork;
  let client: RawClient;
  let project: ProjectHandle;
  let link: string;
  let relayPort: number;
  const nodes: NodeBody[] = [];
  after(() => owned.disposeAsync());
  before(async () => {
    network = await HostNetwork.make(2);
    owned.defer(() => network.remove());
    await network.isolate(true);
    const block = await takePortBlock();
    owned.defer(() => block.release());
    relayPort = Number(block.settings.console_start_port_range);
    const server = await startServer({
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
    for (const [index, slice] of (await Promise.all(started)).entries()) {
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
    // On a busy machine the end that delays frames measures a longer path than the one that is reported, and the ping has a shorter one.
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
});
