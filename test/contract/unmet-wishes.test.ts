/** Ports and addresses that a client wants and cannot have: the node keeps what it has, and listeners are notified. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { freeUdpPort } from '../support/frame-ends.ts';
import { listen } from '../support/notices.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, end, type NodeBody, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const warning = (text: RegExp) => (notice: { action: string; event: Record<string, unknown> }) =>
  notice.action === 'log.warning' && text.test(String(notice.event.message));

test('a console port that another node has', async () => {
  const project = await createProject(client);
  const listener = await listen(`${server.url}${project.path}/notifications/ws`);
  const [one, two] = [await createNode(client, project, 'vpcs'), await createNode(client, project, 'qemu')];
  for (const [wanted, what] of [
    [one.console, 'of another node'],
    [70, 'outside of the range'],
  ] as const) {
    const changed = await client.put<NodeBody>(`${project.path}/nodes/${two.node_id}`, { console: wanted, x: 5 });
    assert.deepEqual([changed.console, changed.x], [two.console, 5], `a port ${what}: the node keeps its own`);
    await listener.find(warning(new RegExp(`^${two.name} did not get the console port ${wanted}: it has ${two.console}\\.`)), what);
  }
  const three = await createNode(client, project, 'vpcs', { console: one.console });
  assert.notEqual(three.console, one.console);
  await listener.find(
    warning(new RegExp(`^${three.name} did not get the console port ${one.console}:`)),
    'a warning of a new node',
  );
  await listener.close();
});

test('a console port that another program has; a free one is given without a word', async () => {
  const project = await createProject(client);
  const listener = await listen(`${server.url}${project.path}/notifications/ws`);
  const node = await createNode(client, project, 'vpcs');
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const free = await createNode(client, project, 'vpcs');
  await client.delete(`${project.path}/nodes/${free.node_id}`);
  const changed = await client.put<NodeBody>(`${project.path}/nodes/${node.node_id}`, { console: free.console });
  assert.equal(changed.console, free.console);
  const address = other.address();
  assert.ok(typeof address === 'object' && address);
  const kept = await client.put<NodeBody>(`${project.path}/nodes/${node.node_id}`, { console: address.port });
  assert.equal(kept.console, free.console);
  await listener.find(warning(new RegExp(`console port ${address.port}`)), 'a warning');
  assert.equal(listener.notices().filter(({ action }) => action === 'log.warning').length, 1);
  other.close();
  await listener.close();
});

/** A program that listens at a port of a node. */
async function takePort(port: number | null) {
  const program = createServer().listen(port as number, '127.0.0.1');
  await once(program, 'listening');
  return { close: () => once(program.close(), 'close') };
}

test('a console port that another program took since: when the node starts, when its project opens, when its deletion is undone', async () => {
  const project = await createProject(client, { auto_close: false });
  const listener = await listen(`${server.url}${project.path}/notifications/ws`);
  const other = ({ name, console }: NodeBody, now: NodeBody) =>
    listener.find(warning(new RegExp(`^${name} did not get the console port ${console}: it has ${now.console}\\.`)), name);
  const [one, two, three] = [
    await createNode(client, project, 'vpcs'),
    await createNode(client, project, 'vpcs'),
    await createNode(client, project, 'ethernet_hub'),
  ] as [NodeBody, NodeBody, NodeBody];
  const pathOf = ({ node_id }: NodeBody) => `${project.path}/nodes/${node_id}`;
  const first = await takePort(one.console);
  await client.post(`${pathOf(one)}/start`, {}, 200);
  const started = await client.get<NodeBody>(pathOf(one));
  assert.notEqual(started.console, one.console);
  await other(one, started);
  await first.close();
  await client.post(`${project.path}/close`, {}, 204);
  const second = await takePort(two.console);
  await client.post(`${project.path}/open`);
  const again = await listen(`${server.url}${project.path}/notifications/ws`);
  const opened = await client.get<NodeBody>(pathOf(two));
  assert.notEqual(opened.console, two.console);
  await other(two, opened);
  await client.delete(pathOf(two));
  const third = await takePort(opened.console);
  await client.post(`${project.path}/undo`, {}, 200);
  const back = await client.get<NodeBody>(pathOf(two));
  assert.notEqual(back.console, opened.console);
  await again.find(
    warning(new RegExp(`^${two.name} did not get the console port ${opened.console}: it has ${back.console}\\.`)),
    'it',
  );
  assert.equal(three.console, null);
  for (const program of [second, third]) await program.close();
  for (const one_ of [listener, again]) await one_.close();
});

test('ports of a bulk request: those that are taken are named, each once', async () => {
  const project = await createProject(client);
  const listener = await listen(`${server.url}${project.path}/notifications/ws`);
  const one = await createNode(client, project, 'vpcs');
  const nodes = ['Bulk1', 'Bulk2'].map((name) => ({ name, node_type: 'vpcs', compute_id: 'local', console: one.console }));
  const made = await client.post<{ nodes: NodeBody[] }>(`${project.path}/bulk`, { nodes });
  assert.equal(new Set([one.console, ...made.nodes.map(({ console }) => console)]).size, 3);
  for (const node of made.nodes)
    await listener.find(
      warning(new RegExp(`^${node.name} did not get the console port ${one.console}: it has ${node.console}\\.`)),
      node.name,
    );
  const kept = await client.get<NodeBody>(`${project.path}/nodes/${one.node_id}`);
  assert.equal(kept.console, one.console);
  assert.equal(listener.notices().filter(({ action }) => action === 'log.warning').length, 2);
  await listener.close();
});

test('a screen: its port that another node or another program has, and one outside of the range of screens', async () => {
  const project = await createProject(client);
  const listener = await listen(`${server.url}${project.path}/notifications/ws`);
  const screen = (fields: object) => createNode(client, project, 'qemu', { console_type: 'vnc', ...fields });
  const [one, two] = [await screen({}), await screen({})];
  const program = createServer().listen(0, '127.0.0.1');
  await once(program, 'listening');
  const address = program.address();
  assert.ok(typeof address === 'object' && address);
  for (const wanted of [one.console as number, address.port, 5000]) {
    const changed = await client.put<NodeBody>(`${project.path}/nodes/${two.node_id}`, { console: wanted });
    if (changed.console === wanted) continue;
    assert.equal(changed.console, two.console, `not ${wanted}: the node keeps its own`);
    await listener.find(warning(new RegExp(`^${two.name} did not get the console port ${wanted}: it has ${two.console}\\.`)), 'it');
  }
  const three = await screen({ console: one.console });
  assert.notEqual(three.console, one.console);
  await listener.find(warning(new RegExp(`^${three.name} did not get the console port ${one.console}:`)), 'a new node');
  program.close();
  await listener.close();
});

test('an address that several nodes want is given to each: clusters share one', async () => {
  const project = await createProject(client);
  const mac_address = '0c:aa:bb:cc:dd:00';
  const one = await createNode(client, project, 'qemu', { properties: { mac_address } });
  const two = await createNode(client, project, 'qemu', { properties: { mac_address } });
  const three = await createNode(client, project, 'qemu');
  const changed = await client.put<NodeBody>(`${project.path}/nodes/${three.node_id}`, { properties: { mac_address } });
  assert.deepEqual(
    [one, two, changed].map(({ properties }) => properties.mac_address),
    [mac_address, mac_address, mac_address],
  );
});

test('the UDP port of a tunnel that another program has is refused when it is linked, and the link is not made', async () => {
  const project = await createProject(client);
  const program = createSocket('udp4').bind(0, '0.0.0.0');
  await once(program, 'listening');
  const { port } = program.address();
  const ports_mapping = [{ name: 'a', port_number: 0, type: 'udp', lport: port, rhost: '127.0.0.1', rport: 9 }];
  const cloud = await createNode(client, project, 'cloud', { properties: { ports_mapping } });
  const hub = await createNode(client, project, 'ethernet_hub');
  const nodes = [end(cloud), end(hub)];
  const answer = await client.send(`POST ${project.path}/links`, { body: { nodes } });
  expectFault(answer, 409, new RegExp(String(port)));
  assert.deepEqual(await client.get(`${project.path}/links`), []);
  program.close();
  await once(program, 'close');
  await client.post(`${project.path}/links`, { nodes });
});

test('an address that is free is no reason to warn, however it is written', async () => {
  const project = await createProject(client);
  const listener = await listen(`${server.url}${project.path}/notifications/ws`);
  await createNode(client, project, 'qemu', { properties: { mac_address: '0C:11:22:33:44:00' } });
  await createNode(client, project, 'vpcs', { node_id: randomUUID(), console: null });
  await client.post(`${project.path}/drawings`, { svg: '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>' });
  await listener.find(({ action }) => action === 'drawing.created', 'what comes last');
  assert.deepEqual(
    listener.notices().filter(({ action }) => action === 'log.warning'),
    [],
  );
  await listener.close();
});

test('the UDP port of a tunnel that another node has', async () => {
  const project = await createProject(client);
  const listener = await listen(`${server.url}${project.path}/notifications/ws`);
  const taken = await freeUdpPort();
  const tunnel = (name: string, lport: number) => ({
    ports_mapping: [{ name, port_number: 0, type: 'udp', lport, rhost: '127.0.0.1', rport: 9 }],
  });
  const warnings = () => listener.notices().filter(({ action }) => action === 'log.warning').length;
  const one = await createNode(client, project, 'cloud', { name: 'One', properties: tunnel('a', taken) });
  const pc = await createNode(client, project, 'vpcs');
  await client.post(`${project.path}/links`, { nodes: [end(one), end(pc)] });
  assert.equal(warnings(), 0);
  const two = await createNode(client, project, 'cloud', { name: 'Two', properties: tunnel('b', taken) });
  await listener.find(
    warning(new RegExp(`^${two.name} cannot use UDP port ${taken} for b now: another node has it`)),
    'a new node',
  );
  const own = `${project.path}/nodes/${two.node_id}`;
  await client.put(own, { properties: tunnel('c', await freeUdpPort()) });
  assert.equal(warnings(), 1);
  await client.put(own, { properties: tunnel('d', taken) });
  await listener.find(warning(new RegExp(`UDP port ${taken} for d`)), 'a changed node');
  const other = await createNode(client, project, 'vpcs');
  expectFault(
    await client.send(`POST ${project.path}/links`, { body: { nodes: [end(two), end(other)] } }),
    409,
    new RegExp(`UDP port ${taken} is used`),
  );
  await listener.close();
});

test('a file outside the volumes of a container is stored, and named', async () => {
  const project = await createProject(client);
  const listener = await listen(`${server.url}${project.path}/notifications/ws`);
  const properties = { image: 'absent/router', extra_volumes: ['/etc/frr'] };
  const node = await createNode(client, project, 'docker', { properties, strict: false });
  const write = async (path: string) =>
    expectStatus(await client.send(`POST ${project.path}/nodes/${node.node_id}/files/${path}`, { raw: 'x' }), 201);
  await write('etc/frr/frr.conf');
  await write('etc/network/interfaces');
  await write('root/.profile');
  await listener.find(warning(new RegExp(`container of ${node.name} sees the file root/\\.profile only if`)), 'the file');
  assert.equal(listener.notices().filter(({ action }) => action === 'log.warning').length, 1);
  await listener.close();
});
