/** Raw consoles of a server that asks for credentials: who reaches them, by address and by user of this machine. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type TestContext, test } from 'node:test';
import { runTool } from '../../src/process/tool.ts';
import { processesOf } from '../support/leftovers.ts';
import { outputForNobody, typeAsNobody } from '../support/other-user.ts';
import { RawClient } from '../support/raw-http.ts';
import { openScreen, overTcp } from '../support/rfb.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { linkOfSpice } from '../support/spice.ts';
import { openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, end, idleVm, type NodeBody, type ProjectHandle } from '../support/with-server.ts';

const account = { auth: true, user: 'teacher', password: 'secret' };
const Authorization = `Basic ${Buffer.from('teacher:secret').toString('base64')}`;
/** An address of this machine that is not the loopback's. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((entry) => entry?.family === 'IPv4' && !entry.internal)?.address;
const needsRoot = process.getuid?.() !== 0 && 'only root can be another user';

interface Lab {
  readonly server: RunningServer;
  readonly client: RawClient;
  readonly project: ProjectHandle;
  readonly pc: NodeBody;
  readonly screen: NodeBody;
}

/** A server that the network reaches, and a PC and a machine with a screen that run on it. */
async function startLab(t: TestContext, more: Record<string, string | boolean> = {}, host = '0.0.0.0'): Promise<Lab> {
  const Server = { ...account, ...more };
  const server = await startServer({ args: ['--host', host], config: { Server, Qemu: { acceleration: 'off' } } });
  const client = new RawClient(server.url, { Authorization });
  t.after(async () => {
    client.close();
    await server.stop();
  });
  const project = await createProject(client);
  const pc = await createNode(client, project);
  const screen = await createNode(client, project, 'qemu', { console_type: 'vnc', properties: idleVm });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  return { server, client, project, pc, screen };
}

function reaches(host: string, port: number | null): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: port ?? 0 });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

async function startSpice({ client, project }: Lab): Promise<NodeBody> {
  const node = await createNode(client, project, 'qemu', { console_type: 'spice', properties: idleVm });
  await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
  return node;
}

test('they listen on the loopback only, and the API reports this', {
  skip: outside === undefined && 'no other address',
}, async (t) => {
  const { pc, screen } = await startLab(t);
  for (const node of [pc, screen]) {
    assert.equal(node.console_host, '127.0.0.1');
    assert.equal(await reaches('127.0.0.1', node.console), true);
    assert.equal(await reaches(String(outside), node.console), false, `${node.name} from the network`);
  }
});

test('a telnet console is for root, the user of the server, and those that are named', {
  skip: needsRoot,
}, async (t) => {
  const { pc } = await startLab(t);
  assert.match(await outputForNobody(pc.console), /^This server asks for credentials.*console_users/);
  const own = await openTelnet(pc.console as number);
  await own.expect(/VPCS> /);
  own.close();
});

test('a client that types and closes at once has no proved owner, so nothing of it arrives', { skip: needsRoot }, async (t) => {
  const { pc } = await startLab(t);
  await typeAsNobody(Number(pc.console), 'echo stranger\r', 20);
  const own = await openTelnet(pc.console as number);
  await own.expect(/VPCS> /);
  assert.doesNotMatch(own.received().toString('latin1'), /stranger/);
  own.close();
});

test('screens are for the same users, VNC and SPICE', { skip: needsRoot }, async (t) => {
  const lab = await startLab(t);
  assert.match(
    await outputForNobody(lab.screen.console),
    /^RFB 003\.008\n\0[\s\S]{4}This server asks for credentials.*console_users/,
  );
  const spice = await startSpice(lab);
  assert.equal(await outputForNobody(spice.console, linkOfSpice()), '');
  const own = await overTcp(Number(lab.screen.console));
  await openScreen(own);
  own.close();
});

test('named users have screens', { skip: needsRoot }, async (t) => {
  const lab = await startLab(t, { console_users: 'nobody' });
  assert.equal(await outputForNobody(lab.screen.console), 'RFB 003.008\n');
  const spice = await startSpice(lab);
  assert.match(await outputForNobody(spice.console, linkOfSpice()), /^REDQ/);
});

test('a server without console ports gives no user a console there, root neither; the WebSocket works', {
  skip: needsRoot,
}, async (t) => {
  const { client, server, project, pc, screen } = await startLab(t, { console_ports: false, console_users: 'nobody' });
  assert.match(await outputForNobody(pc.console), /^This server asks for credentials.*patchbay lab console/);
  const root = await openTelnet(pc.console as number);
  await root.expect(/^This server asks for credentials/);
  root.send('echo stranger\r');
  await root.closed;
  const wire = await overTcp(Number(screen.console));
  await wire.closed;
  assert.match(wire.received().toString('latin1'), /This server asks for credentials/);
  const path = `${project.path}/nodes/${pc.node_id}/console/ws`;
  const { ticket } = await client.post<{ ticket: string }>('/v2/tickets', { path }, 201);
  const socket = await openWebSocket(`${server.url}${path}?ticket=${ticket}`);
  const text = () => Buffer.concat(socket.messages.map((message) => Buffer.from(message))).toString('latin1');
  await waitFor(() => text().includes('VPCS> '), { what: 'the prompt' });
  assert.doesNotMatch(text(), /stranger/);
  socket.close();
  await socket.closed;
});

test('named users have it', { skip: needsRoot }, async (t) => {
  const { pc } = await startLab(t, { console_users: 'no-such-user, nobody' });
  assert.match(await outputForNobody(pc.console), /VPCS> /);
});

test('a server that opens its consoles opens them on its address, for everybody', {
  skip: needsRoot,
}, async (t) => {
  const { pc } = await startLab(t, { console_without_credentials: true });
  assert.equal(pc.console_host, '0.0.0.0');
  assert.match(await outputForNobody(pc.console), /VPCS> /);
  if (outside !== undefined) assert.equal(await reaches(outside, pc.console), true);
});

for (const host of ['127.0.0.1', '0.0.0.0']) {
  test(`no emulator, helper or fabric listens on another address than the loopback, with --host ${host}`, async (t) => {
    const { server, client, project } = await startLab(t, {}, host);
    const nat = await createNode(client, project, 'nat');
    const nodes = await client.get<NodeBody[]>(`${project.path}/nodes`);
    const [pc, screen] = ['vpcs', 'qemu'].map((type) => nodes.find(({ node_type }) => node_type === type));
    assert.ok(pc && screen);
    await client.post(`${project.path}/links`, { nodes: [end(pc), end(nat)] });
    const pids = new Set(processesOf(server.dataDir, server.runtimeDirectory).map(({ pid }) => pid));
    const { stdout } = await runTool('ss', ['-Hlntup'], { timeoutMs: 5000 });
    const rows = stdout.split('\n').filter((row) => [...row.matchAll(/pid=(\d+)/g)].some(([, pid]) => pids.has(Number(pid))));
    const addresses = rows.map((row) => row.trim().split(/\s+/)[4] ?? '').filter((address) => !address.endsWith(`:${server.port}`));
    for (const node of [pc, screen])
      assert.ok(
        addresses.some((address) => address.endsWith(`:${node.console}`)),
        `the console of ${node.name}`,
      );
    for (const address of addresses) assert.match(address, /^127\.0\.0\.1:/);
  });
}
