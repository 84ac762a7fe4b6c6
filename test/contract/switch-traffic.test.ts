/** Traffic through switches and hubs between real machines: while they are changed, and while the server or the fabric is down. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { UdpEnd } from '../support/frame-ends.ts';
import { processesOf } from '../support/leftovers.ts';
import { Pc } from '../support/pc.ts';
import { isPing, wholeFrames } from '../support/pcap.ts';
import { Pinger } from '../support/pinger.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, tinyVm } from '../support/with-server.ts';

const server = await startServer({ config: { Qemu: { acceleration: 'off' } } });
let client = new RawClient(server.url);
let project: ProjectHandle;
let pcs: [Pc, Pc, Pc];
const pingers: Pinger[] = [];
before(async () => {
  project = await createProject(client);
  pcs = [await Pc.make(client, project, 1), await Pc.make(client, project, 2), await Pc.make(client, project, 3)];
  await client.post(`${project.path}/nodes/start`, {}, 204);
});
after(async () => {
  for (const pc of pcs ?? []) pc.close();
  await Promise.all(pingers.map((pinger) => pinger.finish()));
  client.close();
  await server.stop();
});

interface LinkBody {
  link_id: string;
  capture_file_path: string;
}
interface Learned {
  mac_address: string;
  vlan: number;
  port_number: number;
}
interface Counters {
  port_number: number;
  received: number;
  sent: number;
  dropped: Record<string, number>;
}

const nodePath = ({ node_id }: NodeBody) => `${project.path}/nodes/${node_id}`;
const link = async (one: object, other: object) =>
  `${project.path}/links/${(await client.post<LinkBody>(`${project.path}/links`, { nodes: [one, other] })).link_id}`;
const learned = (node: NodeBody) => client.get<Learned[]>(`${nodePath(node)}/mac_table`);
const counters = (node: NodeBody) => client.get<Counters[]>(`${nodePath(node)}/port_stats`);
/** Ports 0 to 7, access of VLAN 1 but for those given. */
const setPorts = (node: NodeBody, ports: Record<number, { type: string; vlan: number }>) => {
  const port = (number: number) => ({ name: 'x', port_number: number, ...(ports[number] ?? { type: 'access', vlan: 1 }) });
  return client.put(nodePath(node), { properties: { ports_mapping: Array.from({ length: 8 }, (_, number) => port(number)) } });
};

/** The three machines at the first ports of a node, for one test. */
async function joined(node: NodeBody, fn: (links: string[]) => Promise<void>): Promise<void> {
  const links = await Promise.all(pcs.map((pc, port) => link(end(pc.node), end(node, 0, port))));
  try {
    await fn(links);
  } finally {
    for (const path of links) await client.delete(path);
  }
}

/** Frames from outside at a port of a switch or hub, and the answers of a machine behind it. */
async function pingerAt(node: NodeBody, port: number, address: string): Promise<Pinger> {
  // A joined port without a link would be taken for one whose creation was cut off.
  await link(end(node, 0, port), end(await createNode(client, project, 'ethernet_hub')));
  const pinger = await Pinger.open(address, async (rport) => {
    const { udp_port: lport } = await client.post<{ udp_port: number }>(`${project.computePath}/ports/udp`);
    const nio = `${project.computePath}/${node.node_type}/nodes/${node.node_id}/adapters/0/ports/${port}/nio`;
    await client.post(nio, { type: 'nio_udp', lport, rhost: '127.0.0.1', rport });
    return lport;
  });
  pingers.push(pinger);
  await pinger.find();
  return pinger;
}

/** Waits until pings are answered that are sent from now on. */
async function answers(pinger: Pinger, count = 20): Promise<void> {
  const goal = pinger.answered + count;
  await waitFor(() => pinger.answered >= goal, { what: `${count} more answers` });
}

describe('an Ethernet switch', () => {
  test('joins machines, learns their addresses, and flushes them on request', async () => {
    const node = await createNode(client, project, 'ethernet_switch');
    await joined(node, async () => {
      assert.deepEqual(
        [await pcs[0].reaches(pcs[1]), await pcs[1].reaches(pcs[2]), await pcs[2].reaches(pcs[0])],
        [true, true, true],
      );
      const places = (await learned(node)).map(({ vlan, port_number }) => `${vlan} ${port_number}`).sort();
      assert.deepEqual(places, ['1 0', '1 1', '1 2']);
      await client.delete(`${nodePath(node)}/mac_table`);
      assert.deepEqual(await learned(node), []);
      assert.ok(await pcs[0].reaches(pcs[1]));
      assert.deepEqual((await learned(node)).map(({ port_number }) => port_number).sort(), [0, 1]);
    });
    assert.deepEqual([await learned(node), await counters(node)], [[], []]);
  });

  test('keeps VLANs apart, which are changed while it runs, and carries them on a trunk', async () => {
    const [one, two] = [await createNode(client, project, 'ethernet_switch'), await createNode(client, project, 'ethernet_switch')];
    const [a, b, c] = pcs;
    const links = [
      await link(end(a.node), end(one, 0, 0)),
      await link(end(b.node), end(one, 0, 1)),
      await link(end(c.node), end(two, 0, 1)),
    ];
    const trunk = await link(end(one, 0, 7), end(two, 0, 7));
    assert.ok(await a.reaches(c), 'untagged between the two, VLAN 1');
    await setPorts(one, { 0: { type: 'access', vlan: 20 }, 7: { type: 'dot1q', vlan: 1 } });
    await setPorts(two, { 1: { type: 'access', vlan: 20 }, 7: { type: 'dot1q', vlan: 1 } });
    await client.post(`${trunk}/start_capture`, { capture_file_name: 'trunk.pcap' });
    assert.deepEqual([await a.reaches(c), await a.reaches(b)], [true, false]);
    const stopped = await client.post<LinkBody>(`${trunk}/stop_capture`);
    const frames = wholeFrames(await readFile(stopped.capture_file_path));
    const tags = frames.map(({ data }) => `${data.toString('hex', 12, 14)} ${data.readUInt16BE(14)}`);
    assert.deepEqual([...new Set(tags)], ['8100 20']);
    assert.deepEqual((await learned(two)).map(({ vlan, port_number }) => `${vlan} ${port_number}`).sort(), ['20 1', '20 7']);
    await setPorts(one, { 0: { type: 'access', vlan: 1 }, 7: { type: 'dot1q', vlan: 1 } });
    assert.deepEqual([await a.reaches(c), await a.reaches(b)], [false, true]);
    for (const path of [...links, trunk]) await client.delete(path);
  });

  test('a link of it has filters, to a machine and to another switch', async () => {
    const [one, two] = [await createNode(client, project, 'ethernet_switch'), await createNode(client, project, 'ethernet_switch')];
    const toPc = await link(end(one, 0, 0), end(pcs[0].node));
    const between = await link(end(one, 0, 5), end(two, 0, 5));
    const pinger = await pingerAt(two, 2, pcs[0].address);
    const change = (path: string, fields: object) => client.put(path, fields, 201);
    for (const path of [toPc, between]) {
      assert.ok((await client.get<unknown[]>(`${path}/available_filters`)).length > 0);
      assert.equal((await pinger.whole(20)).length, 20);
      await change(path, { filters: { delay: [20] } });
      const trips = await pinger.whole(20);
      assert.equal(trips.length, 20);
      assert.ok((trips[0] ?? 0) >= 39, `${trips[0]} ms`);
      for (const fields of [{ filters: { packet_loss: [100] } }, { filters: {}, suspend: true }]) {
        await change(path, fields);
        assert.equal((await pinger.burst(10)).length, 0, JSON.stringify(fields));
      }
      await change(path, { filters: {}, suspend: false });
    }
    assert.equal((await pinger.whole(20)).length, 20);
    for (const path of [toPc, between]) await client.delete(path);
  });

  test('learns a virtual machine', async () => {
    const node = await createNode(client, project, 'ethernet_switch');
    const vm = await createNode(client, project, 'qemu', { properties: tinyVm });
    const path = await link(end(vm), end(node, 0, 4));
    await client.post(`${nodePath(vm)}/start`, {}, 200);
    const { mac_address } = (await client.get<NodeBody>(nodePath(vm))).properties;
    const [entry] = await waitFor(async () => ((entries) => entries.length > 0 && entries)(await learned(node)), {
      what: 'a frame of the VM, which boots from the network',
      everyMs: 100,
    });
    assert.deepEqual([entry?.mac_address, entry?.port_number], [mac_address, 4]);
    await client.post(`${nodePath(vm)}/stop`, {}, 200);
    await client.delete(path);
  });
});

describe('a hub', () => {
  test('gives everything to everyone', async () => {
    const node = await createNode(client, project, 'ethernet_hub');
    await joined(node, async ([, , third]) => {
      await client.post(`${third}/start_capture`, { capture_file_name: 'hub.pcap' });
      assert.ok(await pcs[0].reaches(pcs[1]));
      const { capture_file_path } = await client.post<LinkBody>(`${third}/stop_capture`);
      const pings = wholeFrames(await readFile(capture_file_path)).filter(isPing);
      assert.ok(pings.length >= 2, 'asked and answered between the other two');
    });
  });
});

describe('traffic through a switch continues', () => {
  test('while the server is killed and restarted; after the fabric was killed it resumes', async () => {
    const node = await createNode(client, project, 'ethernet_switch');
    await setPorts(node, { 0: { type: 'access', vlan: 7 }, 3: { type: 'access', vlan: 7 } });
    const path = await link(end(node, 0, 0), end(pcs[0].node));
    const pinger = await pingerAt(node, 3, pcs[0].address);
    pinger.start(10);
    await answers(pinger);
    await server.kill9();
    await answers(pinger);
    await server.restart();
    client.close();
    client = new RawClient(server.url);
    await answers(pinger);
    assert.deepEqual([pinger.sent - pinger.answered <= 2, pinger.damaged], [true, 0], `${pinger.answered} of ${pinger.sent}`);
    assert.equal((await client.get<NodeBody>(nodePath(node))).status, 'started');
    assert.deepEqual((await learned(node)).map(({ vlan, port_number }) => `${vlan} ${port_number}`).sort(), ['7 0', '7 3']);
    const fabric = processesOf(server.dataDir, server.runtimeDirectory).find(({ commandLine }) =>
      commandLine.includes('fabric/main.'),
    );
    assert.ok(fabric);
    process.kill(fabric.pid, 'SIGKILL');
    await answers(pinger);
    assert.deepEqual((await learned(node)).map(({ vlan, port_number }) => `${vlan} ${port_number}`).sort(), ['7 0', '7 3']);
    await pinger.finish();
    await client.delete(path);
  });

  test('while frames run in a circle between two others, which ends with the circle', async () => {
    const [one, two] = [await createNode(client, project, 'ethernet_switch'), await createNode(client, project, 'ethernet_hub')];
    const calm = await createNode(client, project, 'ethernet_switch');
    const circle = [await link(end(one, 0, 0), end(two, 0, 0)), await link(end(one, 0, 1), end(two, 0, 1))];
    circle.push(await link(end(one, 0, 2), end(two, 0, 2)));
    const toCalm = await link(end(calm, 0, 0), end(pcs[1].node));
    const pinger = await pingerAt(calm, 1, pcs[1].address);
    const toCircle = await link(end(pcs[0].node), end(one, 0, 5));
    // No machine has the address: the request is flooded, and returns on three ports.
    assert.equal(await pcs[0].reaches(pcs[2]), false);
    const received = async () => (await counters(two)).reduce((sum, port) => sum + port.received, 0);
    const before = await received();
    await waitFor(async () => (await received()) > before + 100_000, { what: 'a storm' });
    assert.ok((await counters(one)).some(({ dropped }) => (dropped.queue_full ?? 0) > 0));
    assert.equal((await pinger.whole(50, 20)).length, 50);
    for (const path of circle.slice(1)) await client.delete(path);
    await waitFor(async () => ((count) => received().then((later) => later === count))(await received()), {
      what: 'the end of the storm',
    });
    for (const path of [circle[0] as string, toCalm, toCircle]) await client.delete(path);
  });
});

describe('a frame relay switch', () => {
  test('gives frames the number of their circuit at the other port', async (context) => {
    const nodes = `${project.computePath}/frame_relay_switch/nodes`;
    const { node_id } = await client.post<NodeBody>(nodes, { name: 'FR', mappings: { '1:101': '2:202' } });
    const plug = async (port: number) => {
      const outside = await UdpEnd.bind();
      context.after(() => outside.close());
      const { udp_port: lport } = await client.post<{ udp_port: number }>(`${project.computePath}/ports/udp`);
      const nio = { type: 'nio_udp', lport, rhost: '127.0.0.1', rport: outside.number };
      await client.post(`${nodes}/${node_id}/adapters/0/ports/${port}/nio`, nio);
      outside.peer = lport;
      return outside;
    };
    const [one, two] = [await plug(1), await plug(2)];
    // Q.922: DLCI 101 is 0x18 0x51, DLCI 202 is 0x30 0xa1.
    one.send(Buffer.from('1851030008004500', 'hex'));
    assert.equal((await two.receive(1))[0]?.toString('hex'), '30a1030008004500');
    two.send(Buffer.from('30a103cc', 'hex'));
    assert.equal((await one.receive(1))[0]?.toString('hex'), '185103cc');
    one.send(Buffer.from('186103cc', 'hex'));
    await waitFor(
      async () => (await client.get<Counters[]>(`${nodes}/${node_id}/port_stats`)).some(({ dropped }) => dropped.circuit === 1),
      { what: 'a frame of a circuit that is none' },
    );
    await client.put(`${nodes}/${node_id}`, { mappings: { '1:102': '2:202' } });
    one.send(Buffer.from('186103cc', 'hex'));
    assert.equal((await two.receive(2))[1]?.toString('hex'), '30a103cc');
  });
});
