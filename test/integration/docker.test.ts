/** Containers through the HTTP API, with a real engine: network, consoles, volumes, suspension, SIGKILL of the server, and the end. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { isOwnInterface } from '../../src/fabric/redirection.ts';
import { bootMs } from '../../src/lib/boot-clock.ts';
import { killContainers } from '../../src/process/containers.ts';
import { leaseFileOf, removeDeadline, writeDeadline } from '../../src/slice/lease-file.ts';
import { assertClosed, nodeAnswers } from '../clients/gns3-compute-answers.ts';
import { kindExamples, lifeOfNode } from '../conformance/documented-kinds.ts';
import { ExampleRunner } from '../conformance/run-examples.ts';
import { DockerEngine, noEngine } from '../support/docker-engine.ts';
import { containerFiles, skipIou } from '../support/iou/build.ts';
import { listen } from '../support/notices.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { openTelnet, type TelnetClient } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

const skip = await noEngine();
const engine = skip === undefined ? await DockerEngine.start() : undefined;
after(() => engine?.stop());
const { server, client } = await withServer({ config: { Docker: { socket_path: engine?.socket ?? '/nowhere/docker.sock' } } });

const nodePath = (project: ProjectHandle, node: NodeBody) => `${project.path}/nodes/${node.node_id}`;

async function act(project: ProjectHandle, node: NodeBody, verb: string): Promise<NodeBody> {
  expectStatus(await client.send(`POST ${nodePath(project, node)}/${verb}`, { body: {}, limitMs: 60_000 }), 200);
  return client.get<NodeBody>(nodePath(project, node));
}

/** A container at its prompt. */
async function started(project: ProjectHandle, properties: object, fields: object = {}): Promise<NodeBody> {
  const node = await createNode(client, project, 'docker', {
    properties: { image: 'pb-test', ...properties },
    console_type: 'telnet',
    ...fields,
  });
  return act(project, node, 'start');
}

async function shell(node: NodeBody, port = node.console): Promise<TelnetClient> {
  const console = await openTelnet(port as number);
  await ask(console, 'echo rea""dy', /ready/);
  return console;
}

async function stateOf(node: NodeBody): Promise<string | undefined> {
  const all = await engine?.containers();
  return all?.find(({ Names }) => Names.includes(`/patchbay.${node.node_id}`))?.State;
}

async function ask(console: TelnetClient, line: string, shows: RegExp): Promise<RegExpExecArray> {
  console.send(`${line}\r`);
  return console.expect(shows, 15_000);
}

describe('containers', { skip }, () => {
  test('the terminal of a container, and of its auxiliary console, has the size of the client’s window, also after a restart', async () => {
    const project = await createProject(client);
    const node = await started(project, {});
    const says = (columns: number, rows: number) => Uint8Array.of(255, 251, 31, 255, 250, 31, 0, columns, 0, rows, 255, 240);
    const sized = async (port: number, columns: number, rows: number) => {
      const console = await shell(node, port);
      console.socket.write(says(columns, rows));
      await waitFor(() => ask(console, 'stty size; echo en""d', new RegExp(`${rows} ${columns}[^]*end`)).then(() => true), {
        what: `${columns} columns`,
      });
      return console;
    };
    const console = await sized(node.console as number, 120, 40);
    const aux = await sized(node.properties.aux as number, 99, 33);
    await act(project, node, 'stop');
    await act(project, node, 'start');
    await ask(await sized(node.console as number, 130, 44), 'stty size', /44 130/);
    console.close();
    aux.close();
    await client.delete(project.path);
  });

  test('images; a node of a template, with what its properties say', async () => {
    assert.deepEqual(await client.get('/v2/compute/docker/images'), [{ image: 'pb-test:latest' }]);
    assert.deepEqual(await client.get('/v2/computes/local/docker/images'), [{ image: 'pb-test:latest' }]);
    const project = await createProject(client);
    const template = await client.post<{ template_id: string }>('/v2/templates', {
      name: 'box',
      template_type: 'docker',
      compute_id: 'local',
      image: 'pb-test',
      environment: 'COLOUR=blue\nWHO=%vm-name%',
      extra_hosts: 'other:10.1.2.3',
    });
    const made = await client.post<NodeBody>(`${project.path}/templates/${template.template_id}`, { x: 0, y: 0 });
    const node = await act(project, made, 'start');
    assert.equal(node.status, 'started');
    const { image, mac_address, container_id, adapters } = node.properties;
    assert.deepEqual([image, adapters], ['pb-test:latest', 1]);
    assert.match(String(mac_address), /^02:42:(?:[0-9a-f]{2}:){3}00$/);
    assert.match(String(container_id), /^[0-9a-f]{64}$/);
    const answer = await client.get(`${project.computePath}/docker/nodes/${node.node_id}`);
    assertClosed(answer, nodeAnswers.docker ?? {}, 'docker');
    const console = await shell(node);
    await ask(console, 'env', /COLOUR=blue/);
    await ask(console, 'echo "I am $WHO, $(hostname), $FROM_IMAGE"', new RegExp(`I am ${node.name}, ${node.name}, yes`));
    await ask(console, 'cat /etc/hosts', /10\.1\.2\.3\s+other/);
    await ask(console, 'ip link show eth0', new RegExp(`<[^>]*UP[^>]*>.*${mac_address}`, 's'));
    const auxiliary = await shell(node, node.properties.aux as number);
    await ask(auxiliary, 'echo $((6*7))', /42/);
    console.close();
    auxiliary.close();
    await act(project, node, 'stop');
    const compute = `${project.computePath}/docker/nodes/${node.node_id}`;
    for (const path of [`${compute}/suspend`, `${compute}/pause`, `${nodePath(project, node)}/suspend`]) {
      expectFault(await client.send(`POST ${path}`, { body: {} }), 409, /is not started/);
    }
  });

  test('two containers on a link: frames, filters, captures, suspension, SIGKILL of the server', async () => {
    const project = await createProject(client);
    const [one, two] = [await started(project, { adapters: 2 }), await started(project, { adapters: 1 })];
    const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(one, 1), end(two)] });
    const link = `${project.path}/links/${link_id}`;
    const [left, right] = [await shell(one), await shell(two)];
    await ask(left, 'ip addr add 10.5.0.1/24 dev eth1; echo do""ne', /done/);
    await ask(right, 'ip addr add 10.5.0.2/24 dev eth0; echo do""ne', /done/);
    const pings = (console: TelnetClient) => ask(console, 'ping -c 2 -W 5 10.5.0.2; echo en""d', / 0% packet loss.*end/s);
    await pings(left);
    const path = async () => (await client.get<{ carrier: string | null }>(`${link}/stats`)).carrier;
    const carriedBy = (way: string) => waitFor(async () => (await path()) === way, { what: `the carrier ${way}` });
    await carriedBy('kernel');
    const holder = async () =>
      JSON.parse(await readFile(join(server.runtimeDirectory, 'link-namespace.json'), 'utf8')) as { readonly pid: number };
    const { pid } = await holder();
    const ofLinks = (await readdir(`/proc/${pid}/root/sys/class/net`)).filter(isOwnInterface);
    const ofHost = new Set(await readdir('/sys/class/net'));
    assert.equal(ofLinks.length, 6, 'two for each adapter');
    assert.deepEqual(
      ofLinks.filter((name) => ofHost.has(name)),
      [],
    );
    await client.post(`${link}/start_capture`, { capture_file_name: 'c.pcap' });
    assert.equal(await path(), 'fabric');
    await client.put(link, { filters: { packet_loss: [100] } }, 201);
    await ask(left, 'ping -c 1 -W 1 10.5.0.2; echo en""d', /100% packet loss.*end/s);
    await client.put(link, { filters: {} }, 201);
    await pings(left);
    await client.post(`${link}/stop_capture`);
    await carriedBy('kernel');
    await client.put(link, { suspend: true }, 201);
    await ask(left, 'ping -c 1 -W 1 10.5.0.2; echo en""d', /100% packet loss.*end/s);
    await client.put(link, { suspend: false }, 201);
    await carriedBy('kernel');

    assert.equal((await act(project, two, 'suspend')).status, 'suspended');
    // Processes of the container stand still; its network answers pings for them, as that is the kernel's.
    assert.equal(await stateOf(two), 'paused');
    assert.equal((await act(project, two, 'start')).status, 'started');
    await waitFor(async () => (await stateOf(two)) === 'running', { what: 'the engine to say so' });
    const compute = `${project.computePath}/docker/nodes/${two.node_id}`;
    await client.post(`${compute}/pause`, {}, 204);
    await waitFor(async () => (await client.get<NodeBody>(nodePath(project, two))).status === 'suspended', { what: 'suspended' });
    await client.post(`${compute}/unpause`, {}, 204);
    await pings(left);

    const carrier = (isUp: boolean) =>
      ask(left, `until grep ${Number(isUp)} /sys/class/net/eth1/carrier; do sleep 0.1; done; echo se""en`, /seen/);
    await carrier(true);
    await client.put(project.path, { replicate_link_state: true });
    await client.put(link, { suspend: true }, 201);
    await carrier(false);
    await client.put(link, { suspend: false }, 201);
    await carrier(true);
    await act(project, two, 'stop');
    await carrier(false);
    await client.put(project.path, { replicate_link_state: false });
    await carrier(true);
    await act(project, two, 'start');
    const back = await shell(two);
    await ask(back, 'ip addr add 10.5.0.2/24 dev eth0; echo do""ne', /done/);
    back.close();

    // The fabric keeps the network of the links.
    await server.kill9();
    process.kill((await holder()).pid, 'SIGKILL');
    await server.restart();
    await client.post(`${project.path}/open`);
    assert.equal((await client.get<NodeBody>(nodePath(project, one))).status, 'started');
    const again = await shell(one);
    await pings(again);
    await carriedBy('kernel');
    for (const console of [left, right, again]) console.close();

    const id = one.properties.container_id;
    assert.equal((await act(project, one, 'reload')).status, 'started');
    const reloaded = await shell(one);
    await ask(reloaded, 'ip link', /eth1/);
    reloaded.close();
    assert.equal((await client.get<NodeBody>(nodePath(project, one))).properties.container_id, id);
    await client.delete(nodePath(project, one));
    assert.equal(await stateOf(one), undefined);
    await client.post(`${project.path}/close`, {}, 204);
    assert.equal(await stateOf(two), undefined);
  });

  test('a node that is kept off the kernel path, and what GNS3 is shown of that', async () => {
    const project = await createProject(client);
    const [one, two] = [await started(project, { kernel_path: false }), await started(project, {})];
    assert.deepEqual([one.properties.kernel_path, 'kernel_path' in two.properties], [false, false]);
    const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(one), end(two)] });
    const { carrier } = await client.get<{ carrier: string }>(`${project.path}/links/${link_id}/stats`);
    assert.equal(carrier, 'fabric');
    const [left, right] = [await shell(one), await shell(two)];
    await ask(right, 'ip addr add 10.6.0.2/24 dev eth0; echo do""ne', /done/);
    await ask(left, 'ip addr add 10.6.0.1/24 dev eth0; ping -c 2 -W 5 10.6.0.2; echo en""d', / 0% packet loss.*end/s);
    for (const console of [left, right]) console.close();
    await client.delete(project.path);
  });

  test('volumes are kept in the node’s folder, with what the image had there; other changes last until properties change', async () => {
    const project = await createProject(client);
    const node = await started(project, { extra_volumes: ['/data'] });
    const console = await shell(node);
    await ask(console, 'cat /kept/first && touch /data/mine /elsewhere && echo do""ne', /of the image.*done/s);
    console.close();
    const folder = String(node.node_directory);
    assert.equal(await readFile(join(folder, 'kept/first'), 'utf8'), 'of the image\n');
    await readFile(join(folder, 'data/mine'));
    await act(project, node, 'stop');
    const same = await shell(await act(project, node, 'start'));
    await ask(same, 'ls -d /elsewhere /data/mine; echo en""d', /\/elsewhere.*end/s);
    same.close();
    await act(project, node, 'stop');
    await client.put(nodePath(project, node), { properties: { environment: 'A=b' } });
    const other = await shell(await act(project, node, 'start'));
    await ask(other, 'ls /data; ls -d /elsewhere; echo $A en""d', /mine.*No such file.*b end/s);
    other.close();
    await act(project, node, 'stop');
  });

  test('a file in a volume that the image declares is seen, and one outside is named as unseen', async () => {
    const volumes = (image: string) => client.get(`/v2/computes/local/docker/image_volumes/${image}`);
    assert.deepEqual(await volumes('pb-test:latest'), { volumes: ['/kept'] });
    assert.deepEqual(await volumes('example.org/nothing/here:1'), { volumes: null });
    const project = await createProject(client);
    const listener = await listen(`${server.url}${project.path}/notifications/ws`);
    const node = await createNode(client, project, 'docker', { properties: { image: 'pb-test' }, console_type: 'telnet' });
    const write = async (path: string) =>
      expectStatus(await client.send(`POST ${nodePath(project, node)}/files/${path}`, { raw: 'brought\n' }), 201);
    await write('kept/second');
    await write('root/x');
    const said = `The container of ${node.name} does not see the file root/x, as neither its image nor extra_volumes has a volume there`;
    await listener.find(({ action, event }) => action === 'log.warning' && String(event.message).startsWith(said), 'the file');
    assert.equal(listener.notices().filter(({ action }) => action === 'log.warning').length, 1);
    await listener.close();
    const console = await shell(await act(project, node, 'start'));
    await ask(console, 'cat /kept/second /root/x; echo en""d', /brought.*No such file.*end/s);
    console.close();
    await act(project, node, 'stop');
  });

  test('the project’s variables, addresses and names of adapters, and the network file that was edited before the start', async () => {
    const variables = [{ name: 'SITE', value: 'north' }];
    const project = await createProject(client, { variables });
    const custom_adapters = [{ adapter_number: 1, port_name: 'uplink', mac_address: '02:00:00:00:00:09' }];
    const node = await createNode(client, project, 'docker', {
      properties: { image: 'pb-test', adapters: 2, mac_address: '02:aa:00:00:00:00', environment: `AT=\${SITE}-lab` },
      custom_adapters,
      console_type: 'telnet',
    });
    const ports = (node.ports as { name: string; mac_address: string }[]).map(({ name, mac_address }) => [name, mac_address]);
    assert.deepEqual(ports, [
      ['eth0', '02:aa:00:00:00:00'],
      ['uplink', '02:00:00:00:00:09'],
    ]);
    const file = `${nodePath(project, node)}/files/etc/network/interfaces`;
    const sample = expectStatus(await client.send(`GET ${file}`), 200).text();
    assert.match(sample, /^#iface eth1 inet dhcp$/m);
    const raw = 'auto eth0\niface eth0 inet static\n\taddress 10.9.8.7\n\tnetmask 255.255.255.0\n';
    expectStatus(await client.send(`POST ${file}`, { raw }), 201);
    const console = await shell(await act(project, node, 'start'));
    await ask(console, 'ip addr show eth0', /link\/ether 02:aa:00:00:00:00.*inet 10\.9\.8\.7\/24/s);
    await ask(console, 'ip link show eth1', /link\/ether 02:00:00:00:00:09/);
    await ask(console, 'echo "$SITE, $AT"', /north, north-lab/);
    await act(project, node, 'stop');
    await client.put(project.path, { variables: [{ name: 'SITE', value: 'south' }] });
    const again = await shell(await act(project, node, 'start'));
    await ask(again, 'echo "$SITE, $AT"', /south, south-lab/);
    for (const open of [console, again]) open.close();
    await client.delete(project.path);
  });

  test('a stop asks first: what runs inside may end as it should', async () => {
    await engine?.makeImage('pb-polite:1', []);
    const project = await createProject(client);
    const start_command = `sh -c 'trap "echo bye > /etc/network/said; exit 0" TERM; echo li""ving; while :; do sleep 0.1; done'`;
    const node = await started(project, { image: 'pb-polite:1', start_command, adapters: 0 });
    const console = await openTelnet(node.console as number);
    await console.expect(/living/);
    console.close();
    await act(project, node, 'stop');
    assert.equal(await readFile(join(String(node.node_directory), 'etc/network/said'), 'utf8'), 'bye\n');
  });

  test('a page inside is reached at the console port', async () => {
    const project = await createProject(client);
    const node = await started(
      project,
      { start_command: 'httpd -f -p 8080 -h /www', console_http_port: 8080, adapters: 0 },
      { console_type: 'http' },
    );
    const page = await waitFor(
      () => fetch(`http://127.0.0.1:${node.console}/`).then((answer) => (answer.ok ? answer.text() : undefined)),
      {
        what: 'the page',
      },
    );
    assert.equal(page, 'hello from inside\n');
    const rebound = connect({ port: Number(node.console), host: '127.0.0.1' });
    rebound.write('GET / HTTP/1.1\r\nHost: rebound.example\r\n\r\n');
    assert.match(await text(rebound), /^HTTP\/1\.1 403 /);
    await act(project, node, 'stop');
    await assert.rejects(fetch(`http://127.0.0.1:${node.console}/`));
  });

  test('the examples of GNS3’s API reference', async () => {
    const kind = kindExamples.find(({ type }) => type === 'docker') ?? assert.fail('they are gone');
    const runner = new ExampleRunner(client);
    for (const example of lifeOfNode(kind)) await runner.run(example);
  });

  test('a containerized IOL: ports in slots of four, frames through a delayed link, configurations, numbers', {
    skip: skipIou,
  }, async () => {
    await engine?.makeImage('pb-iol:1', ['ENTRYPOINT ["/bin/sh", "/iol/entry"]', 'STOPSIGNAL SIGKILL'], await containerFiles());
    const project = await createProject(client);
    const properties = { image: 'pb-iol:1', adapters: 6, environment: 'IOL_PID=auto' };
    const iol = async (name: string, more: object = {}) =>
      createNode(client, project, 'docker', { name, console_type: 'telnet', properties: { ...properties, ...more } });
    const router = await iol('R1');
    assert.deepEqual(
      (router.ports as { name: string; short_name: string }[]).map(({ name, short_name }) => `${name} ${short_name}`).slice(2, 5),
      ['Ethernet0/2 e0/2', 'Ethernet0/3 e0/3', 'Ethernet1/0 e1/0'],
    );
    assert.equal(router.properties.environment, 'IOL_PID=auto');
    const config = (address: string) => `hostname R1\ninterface Ethernet0/0\n ip address ${address} 255.255.255.0\nend\n`;
    const file = `${nodePath(project, router)}/files/startup-config.cfg`;
    expectStatus(await client.send(`POST ${file}`, { raw: config('10.6.0.1') }), 201);
    const [one, two] = [await started(project, { adapters: 2 }), await started(project, {})];
    await client.post(`${project.path}/links`, { nodes: [end(router), end(one)], filters: { delay: [20, 0] } });
    await client.post(`${project.path}/links`, { nodes: [end(router, 1), end(one, 1)] });
    await client.post(`${project.path}/links`, { nodes: [end(router, 4), end(two)] });
    await act(project, router, 'start');
    assertClosed(await client.get(`${project.computePath}/docker/nodes/${router.node_id}`), nodeAnswers.docker ?? {}, 'docker');
    const console = await openTelnet(router.console as number);
    await ask(console, '', /R1>/);
    await ask(console, 'show interfaces', /2 ethernet 0 serial 1024 nvram/);
    const [left, right] = [await shell(one), await shell(two)];
    await ask(left, 'ip addr add 10.6.0.2/24 dev eth0; ip addr add 10.7.0.1/24 dev eth1; echo do""ne', /done/);
    await ask(right, 'ip addr add 10.7.0.2/24 dev eth0; echo do""ne', /done/);
    // Delayed in both directions.
    const [, least] = await ask(left, 'ping -c 2 -W 9 10.6.0.1; echo en""d', / 0% packet loss.*min\/avg\/max = ([0-9.]+).*end/s);
    assert.ok(Number(least) >= 40, `${least} ms`);
    // Ethernet0/1 and Ethernet1/0 are bridged there.
    await ask(left, 'ping -c 2 -W 9 10.7.0.2; echo en""d', / 0% packet loss.*end/s);

    await ask(console, 'hostname Edge', /Edge>/);
    await ask(console, 'write', /\[OK\]/);
    console.close();
    await act(project, router, 'stop');
    assert.match(expectStatus(await client.send(`GET ${file}`), 200).text(), /^hostname Edge\n/);
    expectStatus(await client.send(`POST ${file}`, { raw: config('10.6.0.77') }), 201);
    const again = await openTelnet((await act(project, router, 'start')).console as number);
    await ask(again, 'show startup', /10\.6\.0\.77/);
    await ask(again, 'vlan 42', /vlan 42\s+done/);
    for (const open of [again, left, right]) open.close();
    await act(project, router, 'stop');
    // The container is made anew at the start.
    await client.put(nodePath(project, router), { properties: { adapters: 7 } });
    const renewed = await openTelnet((await act(project, router, 'start')).console as number);
    await ask(renewed, 'show vlan', /show vlan\s+vlan 42\s+done/);
    renewed.close();

    await act(project, router, 'stop');
    const copy = await client.post<NodeBody>(`${nodePath(project, router)}/duplicate`, { x: 1, y: 1, z: 1 });
    const numbers = async () => {
      const labels = (await engine?.containers())?.map(({ Labels }) => Labels['patchbay.iol']) ?? [];
      return labels.filter((label) => label !== undefined).sort();
    };
    assert.deepEqual(await numbers(), ['1', '2']);
    await client.delete(nodePath(project, router));
    await iol('R3', { environment: 'A=b\nIOL_PID=77' });
    const reused = await iol('R4');
    assert.deepEqual(await numbers(), ['1', '2', '77']);
    for (const bad of ['0', '512', 'x', '']) {
      const body = { properties: { environment: `IOL_PID=${bad}` } };
      expectFault(await client.send(`PUT ${nodePath(project, copy)}`, { body }), 409, /IOL_PID .* 1 to 511/);
    }
    await client.put(nodePath(project, reused), { properties: { adapters: 65 } });
    expectFault(await client.send(`POST ${nodePath(project, reused)}/start`, { body: {} }), 409, /IOL has 64 ports/);
    await client.delete(project.path);
    assert.deepEqual(await numbers(), []);
  });

  test('the guard of a slice ends containers whose server has died, also paused ones, and no others', async () => {
    const project = await createProject(client);
    const [running, paused] = [await started(project, { adapters: 0 }), await started(project, { adapters: 0 })];
    await act(project, paused, 'suspend');
    const state = async () => [await stateOf(running), await stateOf(paused)];
    await killContainers(engine?.socket ?? '', '/run/another', async () => true);
    assert.deepEqual(await state(), ['running', 'paused']);
    const guard = join(import.meta.dirname, '../../src/slice/guard.ts');
    const child = spawn(process.execPath, [guard, server.runtimeDirectory, engine?.socket ?? ''], { stdio: 'ignore' });
    const lease = leaseFileOf(server.runtimeDirectory);
    try {
      await server.kill9();
      await writeDeadline(lease, bootMs(), child.pid ?? 0);
      await waitFor(async () => (await state()).every((one) => one === 'exited'), { what: 'the end of the containers' });
    } finally {
      child.kill('SIGKILL');
      await removeDeadline(lease);
      await server.restart();
    }
  });

  test('refused: an unavailable image, a command with an open quote, a volume outside the folder', async () => {
    const project = await createProject(client);
    const create = (properties: object) =>
      client.send(`POST ${project.path}/nodes`, {
        body: { name: 'x', node_type: 'docker', compute_id: 'local', properties: { image: 'pb-test', ...properties } },
        limitMs: 60_000,
      });
    expectFault(await create({ image: '127.0.0.1:1/none' }), 409, /127\.0\.0\.1:1/);
    expectFault(await create({ start_command: 'echo "x' }), 409, /not closed/);
    expectFault(await create({ extra_volumes: ['/../etc'] }), 409, /absolute path/);
    expectFault(await create({ extra_hosts: 'nonsense' }), 409, /host:address/);
    assert.deepEqual(await client.get(`${project.path}/nodes`), []);
  });
});

test('without an engine the place is named where one was looked for', async () => {
  const alone = skip === undefined ? await withServer({ config: { Docker: { socket_path: '/nowhere/docker.sock' } } }) : { client };
  const { project_id } = await alone.client.post('/v2/compute/projects', { name: 'none', project_id: randomUUID() });
  const says = /no Docker engine at \/nowhere\/docker\.sock/;
  const body = expectFault(
    await alone.client.send(`POST /v2/compute/projects/${project_id}/docker/nodes`, { body: { name: 'd', image: 'x' } }),
    409,
    says,
  );
  assert.equal(body.exception, 'DockerError');
  expectFault(await alone.client.send('GET /v2/compute/docker/images'), 409, says);
  expectFault(await alone.client.send('GET /v2/computes/local/docker/images'), 409, says);
});
