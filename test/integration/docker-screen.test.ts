/** Screens of containers: a real X server and a real X client, seen by a client of RFB; SIGKILL of the server, and the end. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { findProgram } from '../../src/emulators/host/find-program.ts';
import { runTool } from '../../src/process/tool.ts';
import { DockerEngine, noEngine, withLibraries } from '../support/docker-engine.ts';
import { type LeftProcess, processesOf } from '../support/leftovers.ts';
import { listen } from '../support/notices.ts';
import { outputForNobody } from '../support/other-user.ts';
import { expectFault, RawClient } from '../support/raw-http.ts';
import { openScreen, overTcp, overWebSocket, type Pixel, type Screen } from '../support/rfb.ts';
import { openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Bench, createNode, createProject, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

const skip = await noEngine(['Xtigervnc', 'tigervnc-standalone-server'], ['xsetroot', 'x11-xserver-utils']);
const engine = skip === undefined ? await DockerEngine.start() : undefined;
after(() => engine?.stop());
await engine?.makeImage('pb-x:1', ['CMD ["/bin/sh"]', 'STOPSIGNAL SIGKILL'], await withLibraries('xsetroot'));
const Docker = { socket_path: engine?.socket ?? '' };
const { server, client } = await withServer({ config: { Docker } });

const pathOf = (project: ProjectHandle, { node_id }: NodeBody) => `${project.path}/nodes/${node_id}`;
const size = { console_resolution: '640x400', adapters: 0 };

async function made(by: RawClient, project: ProjectHandle, properties: object = {}): Promise<NodeBody> {
  return createNode(by, project, 'docker', { console_type: 'vnc', properties: { image: 'pb-x:1', ...size, ...properties } });
}

async function started(by: RawClient, project: ProjectHandle, properties: object = {}): Promise<NodeBody> {
  const node = await made(by, project, properties);
  await by.post(`${pathOf(project, node)}/start`, {}, 200);
  return by.get<NodeBody>(pathOf(project, node));
}

/** A command in the container, by its second console. On a busy machine runc failed twice to start it: it did not join the namespaces, or its first process was gone. */
async function run(node: NodeBody, line: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const console = await openTelnet(node.properties.aux as number);
    console.send(`${line} && echo do""ne\r`);
    const [seen] = await console.expect(/done|unable to start container process/);
    console.close();
    if (seen === 'done') return;
    assert.ok(tries < 8, seen);
    await pause(250 * tries);
  }
}

async function shows(screen: Screen, colour: Pixel): Promise<void> {
  const seen = async () => {
    const picture = await screen.picture();
    const corners = [picture(0, 0), picture(screen.width - 1, screen.height - 1)];
    return corners.every((corner) => String(corner) === String(colour));
  };
  await waitFor(seen, { what: `a picture of the colour ${colour}` });
}

const screens = ({ server: { dataDir, runtimeDirectory } }: Pick<Bench, 'server'>): LeftProcess[] =>
  processesOf(dataDir, runtimeDirectory).filter(({ commandLine }) => commandLine.includes('Xtigervnc'));

/** Addresses on which the server and its programs listen. */
async function tcpListeners({ server: { dataDir, runtimeDirectory } }: Pick<Bench, 'server'>): Promise<string[]> {
  const pids = new Set(processesOf(dataDir, runtimeDirectory).map(({ pid }) => pid));
  const { stdout } = await runTool('ss', ['-Hlntp'], { timeoutMs: 5000 });
  const rows = stdout.split('\n').filter((row) => [...row.matchAll(/pid=(\d+)/g)].some(([, pid]) => pids.has(Number(pid))));
  return rows.map((row) => row.trim().split(/\s+/)[3] ?? '');
}

describe('screens of containers', { skip }, () => {
  test('its content is shown at the port and as a WebSocket; the server killed; the end', async () => {
    const project = await createProject(client);
    const node = await started(client, project);
    assert.equal(node.status, 'started');
    const screen = await openScreen(await overTcp(Number(node.console)));
    assert.deepEqual([screen.width, screen.height, screen.name], [640, 400, node.name]);
    await run(node, 'xsetroot -solid "#ff8000"');
    await shows(screen, [255, 128, 0]);
    await run(node, 'su guest -c "xsetroot -solid blue"');
    await shows(screen, [0, 0, 255]);
    const page = await openScreen(await overWebSocket(`${server.url}${pathOf(project, node)}/console/ws`));
    await shows(page, [0, 0, 255]);
    page.close();
    const [x, ...others] = screens({ server });
    assert.deepEqual([others, x === undefined], [[], false]);

    await server.kill9();
    await server.restart();
    await client.post(`${project.path}/open`);
    assert.deepEqual(screens({ server }), [x]);
    await run(node, 'xsetroot -solid white');
    await shows(await openScreen(await overTcp(Number(node.console))), [255, 255, 255]);
    await client.post(`${pathOf(project, node)}/stop`, {}, 200);
    assert.deepEqual(screens({ server }), []);
    await assert.rejects(overTcp(Number(node.console)));
  });

  test('a screen that ends is reported, and returns after a stop and start; the container keeps running meanwhile', async () => {
    const project = await createProject(client);
    const node = await started(client, project);
    const listener = await listen(`${server.url}${project.path}/notifications/ws`);
    const [x] = screens({ server });
    assert.ok(x);
    process.kill(x.pid, 'SIGKILL');
    const { event } = await listener.find(({ action }) => action === 'log.warning', 'a warning');
    assert.match(String(event.message), /screen of .* has ended/);
    await listener.close();
    await run(node, 'true');
    await client.post(`${pathOf(project, node)}/stop`, {}, 200);
    await client.post(`${pathOf(project, node)}/start`, {}, 200);
    const screen = await openScreen(await overTcp(Number(node.console)));
    await run(await client.get<NodeBody>(pathOf(project, node)), 'xsetroot -solid red');
    await shows(screen, [255, 0, 0]);
    await client.delete(pathOf(project, node));
    assert.deepEqual(screens({ server }), []);
  });

  test('a port that another program has is replaced; a size that no screen has is refused, and nothing is left of it', async () => {
    const project = await createProject(client);
    const node = await made(client, project);
    const start = () => client.send(`POST ${pathOf(project, node)}/start`, { body: {} });
    const other = createServer().listen(Number(node.console), '127.0.0.1');
    await waitFor(() => other.listening, { what: 'another program at the port' });
    await client.post(`${pathOf(project, node)}/start`, {}, 200);
    const elsewhere = await client.get<NodeBody>(pathOf(project, node));
    assert.notEqual(elsewhere.console, node.console);
    const replaced = await openScreen(await overTcp(Number(elsewhere.console)));
    replaced.close();
    await client.post(`${pathOf(project, node)}/stop`, {}, 200);
    await new Promise((resolve) => other.close(resolve));
    await client.put(pathOf(project, node), { properties: { console_resolution: '0x0' } });
    expectFault(await start(), 409, /screen of .*0x0.* did not start: Fatal server error/);
    assert.deepEqual(screens({ server }), []);
    await client.put(pathOf(project, node), { properties: { console_resolution: '320x200' } });
    await client.post(`${pathOf(project, node)}/start`, {}, 200);
    const screen = await openScreen(await overTcp(Number(elsewhere.console)));
    assert.deepEqual([screen.width, screen.height], [320, 200]);
    screen.close();
  });
});

describe('other servers', { skip }, () => {
  test('with credentials, screens and pages are for chosen users of this machine only', {
    skip: process.getuid?.() !== 0 && 'only root can be another user',
  }, async () => {
    const Authorization = `Basic ${Buffer.from('teacher:secret').toString('base64')}`;
    const account = { auth: true, user: 'teacher', password: 'secret' };
    const { server: guarded } = await withServer({ config: { Docker, Server: account } });
    const teacher = new RawClient(guarded.url, { Authorization });
    after(() => teacher.close());
    const project = await createProject(teacher);
    const shown = await started(teacher, project);
    assert.match(await outputForNobody(shown.console), /^RFB 003\.008\n\0[\s\S]{4}This server asks for credentials/);
    const own = await openScreen(await overTcp(Number(shown.console)));
    own.close();
    const properties = { image: 'pb-x:1', ...size };
    const page = await createNode(teacher, project, 'docker', { console_type: 'http', properties });
    await teacher.post(`${pathOf(project, page)}/start`, {}, 200);
    const request = 'GET / HTTP/1.0\r\n\r\n';
    assert.match(await outputForNobody(page.console, request), /^HTTP\/1\.1 403 [\s\S]*console_users/);
    const addresses = await tcpListeners({ server: guarded });
    assert.ok(addresses.some((address) => address.endsWith(`:${page.console}`)));
    for (const address of addresses) assert.match(address, /^127\.0\.0\.1:/);
  });

  test('its X server is the user of run_as', async () => {
    const bench = await withServer({ config: { Docker, Server: { run_as: 'nobody' } } });
    const project = await createProject(bench.client);
    const node = await started(bench.client, project);
    const [x] = screens(bench);
    const status = await readFile(`/proc/${x?.pid}/status`, 'utf8');
    assert.match(status, /^Uid:\s+65534\s+65534\s+65534\s+65534$/m);
    assert.match(status, /^CapEff:\s+0+$/m);
    const screen = await openScreen(await overTcp(Number(node.console)));
    await run(node, 'xsetroot -solid red');
    await shows(screen, [255, 0, 0]);
    screen.close();
  });

  test('without an X server the package is named', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pb-'));
    await mkdir(join(folder, 'bin'));
    await symlink((await findProgram('busybox')) ?? '', join(folder, 'bin/busybox'));
    const bench = await withServer({ config: { Docker }, env: { PATH: join(folder, 'bin') } });
    const project = await createProject(bench.client);
    const node = await made(bench.client, project);
    const answer = await bench.client.send(`POST ${pathOf(project, node)}/start`, { body: {} });
    expectFault(answer, 409, /package tigervnc-standalone-server/);
    await rm(folder, { recursive: true });
  });
});
