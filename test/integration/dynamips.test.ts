/** Routers over the HTTP API: start, console, links, captures, configurations, adoption, and what is refused. Dynamips is the tests' stand-in. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { everyRouter } from '../support/dynamips/every-router.ts';
import { buildStandIn, compilerObstacle, iosHead } from '../support/dynamips/programs.ts';
import { processesOf } from '../support/leftovers.ts';
import { listen } from '../support/notices.ts';
import { parsePcap } from '../support/pcap.ts';
import { expectFault } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { command, openTelnet, skipHistory, type TelnetClient } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, withServer } from '../support/with-server.ts';

const obstacle = await compilerObstacle();
const program = obstacle === undefined ? await buildStandIn() : '/nonexistent/dynamips';
const { server, client } = await withServer({ config: { Dynamips: { dynamips_path: program } } });
const images = join(server.dataDir, 'images', 'IOS');
await mkdir(images, { recursive: true });
await writeFile(join(images, 'ios.bin'), iosHead, { mode: 0o644 });
await writeFile(join(images, 'text.bin'), 'no image at all\n', { mode: 0o644 });
// The listener of the project leaves before the tests end.
const project = await createProject(client, { auto_close: false });

const pathOf = ({ node_id }: { node_id: string }) => `${project.path}/nodes/${node_id}`;
const verb = (node: NodeBody, what: string, status = 200) => client.post(`${pathOf(node)}/${what}`, {}, status);
const statusOf = async (node: NodeBody) => (await client.get<NodeBody>(pathOf(node))).status;
const hypervisors = () =>
  processesOf(server.dataDir, server.runtimeDirectory).filter(({ commandLine }) => /^\/dynamips -N1/.test(commandLine));

function createRouter(properties: Record<string, unknown>, name = 'R{0}'): Promise<NodeBody> {
  return createNode(client, project, 'dynamips', { name, properties: { image: 'ios.bin', ram: 128, ...properties } });
}

async function openConsole(node: NodeBody): Promise<TelnetClient> {
  const console = await openTelnet(node.console as number);
  await skipHistory(console);
  return console;
}

const config = (address: string, port = '0/0') =>
  `hostname %h\ninterface FastEthernet${port}\n ip address ${address} 255.255.255.0\nend\n`;

test('a router whose image and program are missing keeps its properties and configurations, in copies and closed projects, too', async () => {
  const own = await createProject(client);
  const given = {
    platform: 'c3745',
    image: 'gone.bin',
    image_md5sum: '64c2ad5ca8cf4f6d5cbd3a1b9a6a3d8e',
    ram: 256,
    slot1: 'NM-4T',
    wic0: 'WIC-2T',
  };
  const properties = { ...given, startup_config_content: 'hostname %h\nend\n' };
  const node = await createNode(client, own, 'dynamips', { name: 'R{0}', properties });
  const path = `${own.path}/nodes/${node.node_id}`;
  const change = { ram: 512, slot2: 'NM-16ESW', idlepc: '0x60c09aa0' };
  const changed = await client.put<NodeBody>(path, { properties: change });
  for (const [key, value] of Object.entries({ ...given, ...change })) assert.deepEqual(changed.properties[key], value, key);
  const copy = await client.post<NodeBody>(`${path}/duplicate`, { x: 1, y: 1 });
  assert.equal(copy.properties.dynamips_id, 2);
  const file = join(String(copy.node_directory), 'configs/startup-config.cfg');
  assert.equal(await readFile(file, 'utf8'), `hostname ${copy.name}\nend\n`);
  for (const verb of ['close', 'open']) await client.send(`POST ${own.path}/${verb}`);
  assert.deepEqual((await client.get<NodeBody>(path)).properties, changed.properties);
  for (const what of ['start', 'dynamips/auto_idlepc', 'dynamips/idlepc_proposals']) {
    const method = what === 'start' ? 'POST' : 'GET';
    expectFault(await client.send(`${method} ${path}/${what}`), 409, /gone\.bin|not found/);
  }
});

describe('routers', { skip: obstacle }, () => {
  let router: NodeBody;
  let pc: NodeBody;

  test('a router answers a VPCS through a link with a delay, and shows its console and its AUX port', async () => {
    router = await createRouter({ platform: 'c3725', slot1: 'NM-4T', aux: null, startup_config_content: config('10.0.0.100') });
    const { console: aux } = await createNode(client, project, 'vpcs');
    router = await client.put<NodeBody>(pathOf(router), { properties: { aux: Number(aux) + 40 } });
    pc = await createNode(client, project, 'vpcs', { properties: { startup_script: 'ip 10.0.0.1/24\n' } });
    await client.post(`${project.path}/links`, { nodes: [end(router), end(pc)], filters: { delay: [40, 0] } });
    for (const node of [router, pc]) await verb(node, 'start');
    assert.equal(await statusOf(router), 'started');
    const time = await ping();
    assert.ok(time >= 80, `${time} ms through a delay of 40 ms each way`);
    const [line, auxiliary] = await Promise.all([openTelnet(router.console as number), openTelnet(Number(router.properties.aux))]);
    for (const client_ of [line, auxiliary]) await command(client_, '', new RegExp(`${router.name}#`));
    for (const client_ of [line, auxiliary]) client_.close();
  });

  /** Milliseconds of one answered ping from the PC to the router. */
  async function ping(): Promise<number> {
    const console = await openTelnet(pc.console as number);
    const [, time] = await command(console, 'ping 10.0.0.100 -c 2', /10\.0\.0\.100 icmp_seq=\d ttl=\d+ time=([\d.]+)/);
    console.close();
    return Number(time);
  }

  test('no other process of the host reaches its control port, console or datagrams', async () => {
    const [one] = hypervisors();
    assert.ok(one);
    const listening = await readFile(`/proc/${one.pid}/net/tcp`, 'latin1');
    assert.ok(listening.includes(`0100007F:${(7200).toString(16).toUpperCase()}`), 'its control port is open');
    const [network, own] = await Promise.all([one.pid, 'self'].map((pid) => readlink(`/proc/${pid}/ns/net`)));
    assert.notEqual(network, own, 'in a network namespace of its own');
    const status = await readFile(`/proc/${one.pid}/status`, 'utf8');
    if (process.getuid?.() === 0) assert.doesNotMatch(status, /^Uid:\s+0\s/m, 'it does not run as root');
    const root = await readdir(`/proc/${one.pid}/root/`);
    for (const name of ['etc', 'home', 'bin', 'usr', 'proc']) assert.ok(!root.includes(name), `it sees /${name}`);
  });

  test('a server that is killed leaves the router running, and the next one adopts it with its links', async () => {
    const [before] = hypervisors();
    await server.kill9();
    await server.restart();
    await client.post(`${project.path}/open`, {}, 201).catch(() => undefined);
    await waitFor(async () => (await statusOf(router)) === 'started', { what: 'the adoption of the router' });
    assert.equal(hypervisors()[0]?.pid, before?.pid);
    assert.ok((await ping()) >= 80);
    await verb(pc, 'stop');
    const line = await openConsole(router);
    await command(line, 'show settings', /ram 128/);
    line.close();
  });

  test('a router that is started for a search of idle-PC values does not outlive the server', async () => {
    const [kept] = hypervisors();
    const node = await createRouter({ platform: 'c2691' });
    // The search ends with the server; GNS3's time for the boot of a router is longer than this test.
    const search = client.send(`GET ${pathOf(node)}/dynamips/auto_idlepc`).catch(() => undefined);
    const pids = () => hypervisors().map(({ pid }) => pid);
    const temporary = await waitFor(() => pids().find((pid) => pid !== kept?.pid), { what: 'the router of the search' });
    await server.kill9();
    await search;
    await waitFor(() => !pids().includes(temporary), { what: 'its end' });
    assert.deepEqual(pids(), [kept?.pid], 'the router of a node stays');
    await server.restart();
    await waitFor(async () => (await statusOf(router)) === 'started', { what: 'the adoption of the router' });
    await client.delete(pathOf(node));
  });

  test('it is suspended, resumed and reloaded', async () => {
    await verb(router, 'suspend');
    assert.equal(await statusOf(router), 'suspended');
    await verb(router, 'start');
    assert.equal(await statusOf(router), 'started');
    const [before] = hypervisors();
    await verb(router, 'reload');
    assert.equal(await statusOf(router), 'started');
    assert.notEqual(hypervisors()[0]?.pid, before?.pid, 'a reload starts it anew');
  });

  test('what its user saves is in its configuration file when it stops, and it starts with that', async () => {
    const line = await openConsole(router);
    await command(line, 'hostname saved', /saved#/);
    await command(line, 'write memory', /\[OK\]/);
    line.close();
    await verb(router, 'stop');
    assert.equal(await statusOf(router), 'stopped');
    assert.deepEqual(hypervisors(), []);
    const file = `${pathOf(router)}/files/configs/startup-config.cfg`;
    const { bytes } = await client.send(`GET ${file}`);
    assert.match(String(bytes), /^hostname saved$/m);
    assert.match(String(bytes), /ip address 10\.0\.0\.100/);
    assert.equal((await client.send(`POST ${file}`, { raw: 'hostname edited\n' })).status, 201);
    await verb(router, 'start');
    const again = await openTelnet(router.console as number);
    await command(again, '', /edited#/);
    again.close();
  });

  test('a hypervisor that is killed is noticed', async () => {
    const listener = await listen(`${server.url.replace('http', 'ws')}${project.path}/notifications/ws`);
    const [one] = hypervisors();
    process.kill(Number(one?.pid), 'SIGKILL');
    await listener.find(
      ({ action, event }) => action === 'node.updated' && event.node_id === router.node_id && event.status === 'stopped',
      'its end',
    );
    await listener.find(
      ({ action, event }) => action === 'log.error' && /SIGKILL/.test(String(event.message)),
      'the reason of its end',
    );
    await listener.close();
    assert.deepEqual(hypervisors(), []);
  });

  test('a serial link carries frames of HDLC, and its capture says so', async () => {
    const other = await createRouter({ platform: 'c7200', slot2: 'PA-8T' });
    const link = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(router, 1, 3), end(other, 2, 7)] });
    for (const node of [router, other]) await verb(node, 'start');
    const capture = `${project.path}/links/${link.link_id}`;
    const { capture_file_path: file } = await client.post<{ capture_file_path: string }>(`${capture}/start_capture`, {
      capture_file_name: 'serial.pcap',
      data_link_type: 'DLT_C_HDLC',
    });
    const [from, to] = await Promise.all([openConsole(router), openConsole(other)]);
    // Cisco HDLC: unicast, IPv4; what follows is any datagram.
    const frame = '0f000800450000140000000040010000c0a80001c0a80002';
    await command(from, `send 1/3 ${frame}`, /sent 24 bytes/);
    await command(to, 'received 2/7', new RegExp(`frames, last ${frame}`));
    for (const console of [from, to]) console.close();
    await client.post(`${capture}/stop_capture`, {}, 201);
    const captured = parsePcap(await readFile(file));
    const linkTypeOfHdlc = 104;
    assert.equal(captured.linkType, linkTypeOfHdlc);
    assert.ok(captured.frames.some(({ data }) => data.toString('hex') === frame));
    await hotSwap(other);
    for (const node of [router, other]) await verb(node, 'stop');
  });

  /** Online insertion and removal, of c7200 only. */
  async function hotSwap(c7200: NodeBody): Promise<void> {
    const change = (node: NodeBody, properties: Record<string, unknown>) =>
      client.send(`PUT ${pathOf(node)}`, { body: { properties } });
    assert.equal((await change(c7200, { slot3: 'PA-8E', idlepc: '0x60200f3c' })).status, 200);
    const link = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(c7200, 3, 5), end(router, 0, 1)] });
    const console = await openConsole(c7200);
    await command(console, 'show ports', /3\/5 \S+ linked/);
    await command(console, 'show settings', /idle 0x60200f3c/);
    await client.delete(`${project.path}/links/${link.link_id}`);
    assert.equal((await change(c7200, { slot3: null })).status, 200);
    await command(console, 'show ports', /3\/5 \S+ free/);
    console.close();
    expectFault(await change(c7200, { slot3: 'NM-4T' }), 409, /Slot 3 cannot take NM-4T/);
    const onCompute = `${project.computePath}/dynamips/nodes/${c7200.node_id}`;
    assert.equal((await client.get<{ slot3: unknown }>(onCompute)).slot3, null, 'the compute stored nothing');
    expectFault(await change(c7200, { slot0: 'C7200-IO-2FE' }), 409, /running/);
    expectFault(await change(router, { slot2: 'NM-1FE-TX' }), 409, /running/);
    expectFault(await change(router, { wic0: 'WIC-1T' }), 409, /running/);
  }

  test('what cannot run is refused in words, and leaves nothing', async () => {
    for (const [properties, says] of [
      [{ platform: 'c3725', image: 'gone.bin' }, /gone\.bin.*not found/],
      [{ platform: 'c3725', image: 'text.bin' }, /not an IOS image/],
      [{ platform: 'c3725', slot1: 'PA-8E' }, /Slot 1 cannot take PA-8E in this router/],
      [{ platform: 'c7200', system_id: 'a"b' }, /quote/],
    ] as const) {
      const node = await createRouter(properties);
      expectFault(await client.send(`POST ${pathOf(node)}/start`, { body: {} }), 409, says);
      assert.equal(await statusOf(node), 'stopped');
      expectFault(await client.send(`GET ${pathOf(node)}/dynamips/auto_idlepc`), 409, says);
      await client.delete(pathOf(node));
    }
    for (const properties of [
      { platform: 'c9999' },
      { platform: 'c3745', chassis: '2610' },
      { platform: 'c3725', slot1: 'NOPE' },
    ]) {
      const body = {
        name: 'bad',
        node_type: 'dynamips',
        compute_id: 'local',
        properties: { image: 'ios.bin', ram: 128, ...properties },
      };
      const { status } = await client.send(`POST ${project.path}/nodes`, { body });
      assert.ok(status === 400 || status === 409, `${JSON.stringify(properties)}: ${status}`);
    }
    assert.deepEqual(hypervisors(), []);
  });

  test('the start of a router on another compute sends its image there', async (t) => {
    const far = await startServer({ config: { Dynamips: { dynamips_path: program } } });
    t.after(() => far.stop());
    const where = { protocol: 'http', host: '127.0.0.1', port: far.port, name: 'far' };
    const { compute_id } = await client.post<{ compute_id: string }>('/v2/computes', where);
    const properties = { image: 'ios.bin', ram: 128, platform: 'c2691' };
    const node = await createNode(client, project, 'dynamips', { properties, compute_id });
    await verb(node, 'start');
    assert.equal(await statusOf(node), 'started');
    await client.delete(pathOf(node));
  });

  test('routers of every platform, chassis and module are made; one of each platform starts, and leaves nothing when it is deleted', async () => {
    const started = new Set<unknown>();
    for (const properties of everyRouter()) {
      const node = await createRouter(properties);
      for (const [key, value] of Object.entries(properties)) assert.equal(node.properties[key], value, key);
      if (!started.has(properties.platform)) {
        const reply = await client.send(`POST ${pathOf(node)}/start`, { body: {} });
        assert.equal(reply.status, 200, `${JSON.stringify(properties)}: ${reply.text()}`);
      }
      started.add(properties.platform);
      const { node_directory } = await client.get<NodeBody>(pathOf(node));
      await client.delete(pathOf(node));
      await assert.rejects(readdir(String(node_directory)), { code: 'ENOENT' });
    }
    assert.deepEqual(hypervisors(), []);
  });
});
