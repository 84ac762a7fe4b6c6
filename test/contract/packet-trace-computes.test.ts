/** The trace of a packet through a machine that routes, and over a link between two computes. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { Console } from '../../demo/console.ts';
import { ensureGuest } from '../../demo/guest/guest.ts';
import { machineProperties } from '../../demo/topology.ts';
import type { PacketTrace } from '../../src/schema/frame-trace.ts';
import type { Link } from '../../src/schema/link.ts';
import type { NodeProbe, NodeProbeAnswer } from '../../src/schema/pc-probe.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, withServer } from '../support/with-server.ts';

/** Limit for a machine without hardware acceleration on a busy host. */
const bootMs = 120_000;
const guest = await ensureGuest().catch((error: Error) => error.message);
const { client } = await withServer({ config: { Qemu: { acceleration: 'off' } } });
const computeId = randomUUID();
const [user, password] = ['teacher', 'correct-horse'];
let away: RunningServer | undefined;
after(() => away?.stop());

describe('a packet that a machine routes to another compute', { skip: typeof guest === 'string' && guest }, () => {
  let project: Awaited<ReturnType<typeof createProject>>;
  let nodes: Readonly<Record<'PC1' | 'R' | 'SW' | 'PC2', NodeBody>>;
  let between: Link;
  let router: Console | undefined;
  after(() => router?.close());
  const probe = (body: NodeProbe) => client.post<NodeProbeAnswer>(`${project.path}/nodes/${nodes.PC1.node_id}/probe`, body, 200);
  const trace = async () => {
    const names = new Map(Object.entries(nodes).map(([name, { node_id }]) => [node_id, name]));
    const body = { from_node_id: nodes.PC1.node_id, to_node_id: nodes.PC2.node_id };
    const found = await client.post<PacketTrace>(`${project.path}/trace`, body, 200);
    const ways = found.ways.map(({ packet, is_answer, hops, end: how }) => {
      const way = hops.map((hop) => `${names.get(hop.from_node_id)}>${names.get(hop.to_node_id)}${hop.lost ? `:${hop.lost}` : ''}`);
      return `${packet}${is_answer ? ' answer' : ''} ${how}: ${way.join(' ')}`;
    });
    return { found, ways };
  };

  before(async () => {
    assert.ok(typeof guest !== 'string');
    away = await startServer({ config: { Server: { auth: true, user, password } } });
    const address = { protocol: 'http', host: '127.0.0.1', port: away.port, user, password };
    await client.post('/v2/computes', { compute_id: computeId, name: 'away', ...address });
    project = await createProject(client, { auto_close: false });
    const pc = (name: string, address: string, gateway: string, more = {}) =>
      createNode(client, project, 'vpcs', { name, properties: { startup_script: `ip ${address}/24 ${gateway}\n` }, ...more });
    nodes = {
      PC1: await pc('PC1', '10.0.0.1', '10.0.0.254'),
      R: await createNode(client, project, 'qemu', {
        name: 'R',
        properties: machineProperties(guest, 'R', ['10.0.0.254/24', '10.0.1.254/24']),
      }),
      SW: await createNode(client, project, 'ethernet_switch', { name: 'SW', compute_id: computeId }),
      PC2: await pc('PC2', '10.0.1.2', '10.0.1.254', { compute_id: computeId }),
    };
    const join = (ends: readonly object[]) => client.post<Link>(`${project.path}/links`, { nodes: ends });
    await join([end(nodes.PC1), end(nodes.R)]);
    between = await join([end(nodes.R, 1), end(nodes.SW)]);
    await join([end(nodes.SW, 0, 1), end(nodes.PC2)]);
    await client.post(`${project.path}/nodes/start`, {}, 204);
    router = await Console.open(nodes.R.console as number);
    await router.expect(/GUEST READY.*# $/s, bootMs);
    await router.run('echo 1 > /proc/sys/net/ipv4/ip_forward');
    const answered = async () => (await probe({ type: 'ping', to: '10.0.1.2', count: 1 })).received === 1;
    await waitFor(answered, { what: 'an answer over the router', limitMs: bootMs });
  });

  it('is followed there and back', async () => {
    const { found, ways } = await trace();
    assert.deepEqual(ways, ['echo arrived: PC1>R R>SW SW>PC2', 'echo answer arrived: PC2>SW SW>R R>PC1']);
    assert.deepEqual([found.answered, found.address, found.untraced_links, found.clocks_differ], [true, '10.0.1.2', [], true]);
  });

  it('is lost on the link between the computes, by a filter', async () => {
    await client.put(`${project.path}/links/${between.link_id}`, { filters: { packet_loss: [100] } }, 201);
    assert.deepEqual((await trace()).ways, ['echo lost: PC1>R R>SW:packet_loss']);
    await client.put(`${project.path}/links/${between.link_id}`, { filters: {} }, 201);
  });

  it('stops at a machine that does not route it', async () => {
    await router?.run('echo 0 > /proc/sys/net/ipv4/ip_forward');
    assert.deepEqual((await trace()).ways, ['echo stopped: PC1>R']);
  });
});
