/** Clouds through the HTTP API: a PC of the project reaches another host over an interface, a bridge, a TAP interface and a UDP tunnel. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { freeUdpPort, UdpEnd } from '../support/frame-ends.ts';
import { processesOf } from '../support/leftovers.ts';
import { ip, Neighbour, noNamespaces } from '../support/network-namespace.ts';
import { Pinger } from '../support/pinger.ts';
import { expectFault } from '../support/raw-http.ts';
import { command, openTelnet, type TelnetClient } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

const skip = noNamespaces();
const { server, client } = await withServer();
const undo: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const step of undo.reverse()) await step();
});

interface Lab {
  readonly project: ProjectHandle;
  readonly cloud: NodeBody;
  readonly link: string;
  readonly pc: TelnetClient;
}

/** A PC with this address behind a cloud with one port. */
async function lab(port: object, address: string): Promise<Lab> {
  const project = await createProject(client);
  const cloud = await createNode(client, project, 'cloud', { properties: { ports_mapping: [{ port_number: 0, ...port }] } });
  const pc = await createNode(client, project);
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(pc), end(cloud)] });
  await client.post(`${project.path}/nodes/${pc.node_id}/start`, {}, 200);
  const console = await openTelnet(pc.console as number);
  undo.push(async () => console.close());
  await command(console, `ip ${address}/24`, /PC\d* : [\d.]+|VPCS : [\d.]+/);
  return { project, cloud, link: `${project.path}/links/${link_id}`, pc: console };
}

const pings = (pc: TelnetClient, address: string) => command(pc, `ping ${address} -c 1`, /icmp_seq=1 ttl=64/);

async function neighbour(address: string): Promise<Neighbour> {
  const made = await Neighbour.make(address);
  undo.push(() => made.remove());
  return made;
}

/** Interfaces on top of another one; `inside`: what the host behind them has. */
const stacked = [
  {
    type: 'vlan',
    make: (name: string, below: string) => [`link add link ${below} name ${name} type vlan id 9`],
    inside: ['link add link eth0 name up type vlan id 9', 'addr add 10.66.8.2/24 dev up', 'link set up up'],
  },
  {
    type: 'bond',
    make: (name: string, below: string) => [
      `link add ${name} type bond mode active-backup`,
      `link set ${below} down`,
      `link set ${below} master ${name}`,
    ],
    inside: ['addr add 10.66.8.2/24 dev eth0'],
  },
  {
    type: 'macvlan',
    make: (name: string, below: string) => [`link add link ${below} name ${name} type macvlan mode passthru`],
    inside: ['addr add 10.66.8.2/24 dev eth0'],
  },
] as const;

/** Why there can be no such interfaces here; undefined where there can. */
async function lacks(type: string): Promise<string | undefined> {
  if (skip) return skip;
  const [name, below] = [randomBytes(3).toString('hex'), randomBytes(3).toString('hex')].map((text) => `pby${text}`) as [
    string,
    string,
  ];
  // The kernel's module for bonds would by itself make an interface `bond0`, which would stay on this host.
  if (type === 'bond') await promisify(execFile)('modprobe', ['bonding', 'max_bonds=0']).catch(() => undefined);
  const more = { vlan: `link ${below} name ${name} type vlan id 9`, bond: `${name} type bond` }[type];
  await ip(`link add ${below} type veth peer name ${below}p`);
  try {
    await ip(`link add ${more ?? `link ${below} name ${name} type ${type}`}`);
    await ip(`link del ${name}`);
    return undefined;
  } catch {
    return `this kernel has no interfaces of type ${type}`;
  } finally {
    await ip(`link del ${below}`);
  }
}

const lacking = new Map(await Promise.all(stacked.map(async ({ type }) => [type, await lacks(type)] as const)));

describe('a cloud on this host', { skip }, () => {
  test('interface: to and fro, large frames, filters, captures, SIGKILL of server, of the fabric, and the end', async () => {
    const other = await neighbour('10.66.1.2/24');
    const { project, cloud, link, pc } = await lab({ name: 'out', type: 'ethernet', interface: other.interface }, '10.66.1.1');
    assert.deepEqual([cloud.status, cloud.console, cloud.console_type], ['started', null, null]);
    await pings(pc, '10.66.1.2');
    assert.match(await other.run('busybox', 'ping', '-c', '2', '-s', '1472', '-W', '5', '10.66.1.1'), / 0% packet loss/);

    await client.post(`${link}/start_capture`, { capture_file_name: 'out.pcap' });
    await client.put(link, { filters: { packet_loss: [100] } }, 201);
    await assert.rejects(other.run('busybox', 'ping', '-c', '1', '-W', '1', '10.66.1.1'));
    await client.put(link, { filters: {} }, 201);
    await other.run('busybox', 'ping', '-c', '1', '-W', '5', '10.66.1.1');
    await client.post(`${link}/stop_capture`);

    await server.kill9();
    await other.run('busybox', 'ping', '-c', '1', '-W', '5', '10.66.1.1');
    await server.restart();
    await client.post(`${project.path}/open`);
    await other.run('busybox', 'ping', '-c', '1', '-W', '5', '10.66.1.1');
    const fabrics = () =>
      processesOf(server.dataDir, server.runtimeDirectory).filter(({ commandLine }) => /fabric\/main\./.test(commandLine));
    const [first, ...more] = fabrics();
    assert.ok(first && more.length === 0);
    process.kill(first.pid, 'SIGKILL');
    await waitFor(() => fabrics().some(({ pid }) => pid !== first.pid), { what: 'another fabric' });
    const returns = () => other.run('busybox', 'ping', '-c', '1', '-W', '1', '10.66.1.1').catch(() => false);
    await waitFor(returns, { what: 'its frames by the next fabric' });

    await ip(`link set ${other.interface} down`);
    await assert.rejects(other.run('busybox', 'ping', '-c', '1', '-W', '1', '10.66.1.1'));
    await ip(`link set ${other.interface} up`);
    await waitFor(returns, { what: 'its return' });
    assert.match(await ip(`-d link show ${other.interface}`), /promiscuity 1/);
    await client.delete(link);
    assert.match(await ip(`-d link show ${other.interface}`), /promiscuity 0/);
  });

  test('bridge: the cloud joins it with a TAP interface that ends with the link', async () => {
    const other = await neighbour('10.66.2.2/24');
    const bridge = `pbb${randomBytes(3).toString('hex')}`;
    await ip(`link add ${bridge} type bridge`);
    undo.push(() => ip(`link del ${bridge}`));
    await ip(`link set ${other.interface} master ${bridge}`);
    await ip(`link set ${bridge} up`);
    const { link, pc } = await lab({ name: 'out', type: 'ethernet', interface: bridge }, '10.66.2.1');
    await pings(pc, '10.66.2.2');
    assert.match(await ip(`link show master ${bridge}`), /pbt/);
    await client.delete(link);
    assert.doesNotMatch(await ip(`link show master ${bridge}`), /pbt/);
  });

  test('TAP: this host itself is reached', async () => {
    const name = `pbt${randomBytes(3).toString('hex')}`;
    const { link, pc } = await lab({ name: 'tap', type: 'tap', interface: name }, '10.66.3.1');
    await ip(`addr add 10.66.3.2/24 dev ${name}`);
    await pings(pc, '10.66.3.2');
    await client.delete(link);
    assert.doesNotMatch(await ip('link'), new RegExp(name));
  });

  for (const { type, make, inside } of stacked) {
    test(`${type}: a host behind it is reached, and nothing of the cloud stays on it`, { skip: lacking.get(type) }, async () => {
      const other = await neighbour('10.66.7.2/24');
      for (const line of inside) await other.run('ip', ...line.split(' '));
      const name = `pbx${randomBytes(3).toString('hex')}`;
      undo.push(() => ip(`link del ${name}`).catch(() => undefined));
      for (const line of make(name, other.interface)) await ip(line);
      await ip(`link set ${name} up`);
      const { project, link, pc } = await lab({ name: 'out', type: 'ethernet', interface: name }, '10.66.8.1');
      await pings(pc, '10.66.8.2');
      const isReached = () => other.run('busybox', 'ping', '-c', '1', '-s', '1400', '-W', '5', '10.66.8.1').catch(() => false);
      await waitFor(isReached, { what: 'an answer' });
      const isClean = async () => /promiscuity 0/.test(await ip(`-d link show ${name}`));
      assert.equal(await isClean(), false);
      await server.kill9();
      const fabrics = processesOf(server.dataDir, server.runtimeDirectory).filter(({ commandLine }) =>
        commandLine.includes('fabric/main.'),
      );
      for (const { pid } of fabrics) process.kill(pid, 'SIGKILL');
      await waitFor(isClean, { what: 'the interface as it was' });
      await server.restart();
      await client.post(`${project.path}/open`);
      await waitFor(isReached, { what: 'an answer after the kills' });
      await client.delete(link);
      assert.ok(await isClean());
      await client.delete(project.path);
    });
  }

  test('a TAP interface is a port of one cloud: another one that names it is refused, and the first one stays', async () => {
    const name = `pbt${randomBytes(3).toString('hex')}`;
    const port = { port_number: 0, name: 'tap', type: 'tap', interface: name };
    const project = await createProject(client);
    const join = async () => {
      const cloud = await createNode(client, project, 'cloud', { properties: { ports_mapping: [port] } });
      const pc = await createNode(client, project);
      return { cloud, send: () => client.send(`POST ${project.path}/links`, { body: { nodes: [end(pc), end(cloud)] } }) };
    };
    const [one, two] = [await join(), await join()];
    const replies = await Promise.all([one.send(), two.send()]);
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409]);
    const [winner, loser] = replies[0]?.status === 201 ? [one, two] : [two, one];
    // A port that reads the interface beside it neither takes it nor, when it goes, frees it.
    const reader = { port_number: 0, name: 'out', type: 'ethernet', interface: name };
    const third = await createNode(client, project, 'cloud', { properties: { ports_mapping: [reader] } });
    const pc = await createNode(client, project);
    const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(pc), end(third)] });
    await client.delete(`${project.path}/links/${link_id}`);
    expectFault(await loser.send(), 409, /another port of a cloud is this TAP interface.*bridge/);
    assert.match(await ip('link'), new RegExp(name));
    await client.delete(`${project.path}/nodes/${winner.cloud.node_id}`);
    assert.doesNotMatch(await ip('link'), new RegExp(name));
    assert.equal((await loser.send()).status, 201, 'it is free again');
    await client.delete(project.path);
    assert.doesNotMatch(await ip('link'), new RegExp(name));
  });

  test('refused with the link: an interface that is missing or down; the cloud and its other ports stay', async () => {
    const other = await neighbour('10.66.4.2/24');
    const project = await createProject(client);
    const ports_mapping = ['pbnone0', other.interface].map((name, port_number) => {
      return { name, port_number, type: 'ethernet', interface: name };
    });
    const cloud = await createNode(client, project, 'cloud', { properties: { ports_mapping } });
    const pc = await createNode(client, project);
    const join = (port: number) => client.send(`POST ${project.path}/links`, { body: { nodes: [end(pc), end(cloud, 0, port)] } });
    expectFault(await join(0), 409, /no such interface/);
    await ip(`link set ${other.interface} down`);
    expectFault(await join(1), 409, /is down.*ip link set/);
    await ip(`link set ${other.interface} up`);
    assert.equal((await join(1)).status, 201);
    assert.equal((await client.get<unknown[]>(`${project.path}/nodes/${cloud.node_id}/links`)).length, 1);
    const change = { properties: { ports_mapping: ports_mapping.toReversed() } };
    const changing = await client.send(`PUT ${project.path}/nodes/${cloud.node_id}`, { body: change });
    expectFault(changing, 409, /delete its links/);
  });
});

test('UDP tunnel: no privilege, frames of its peer only', async () => {
  const peer = await UdpEnd.bind();
  undo.push(() => peer.close());
  const lport = await freeUdpPort();
  let bound = 0;
  const pinger = await Pinger.open('10.0.0.1', async (ownPort) => {
    bound = ownPort;
    return lport;
  });
  undo.push(() => pinger.finish());
  await lab({ name: 'u', type: 'udp', lport, rhost: '127.0.0.1', rport: bound }, '10.0.0.1');
  await pinger.find();
  assert.equal((await pinger.whole(3, 50)).length, 3);
});
