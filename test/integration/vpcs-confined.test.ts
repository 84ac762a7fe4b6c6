/** The console of VPCS has a command that runs commands on its host: it finds none there, from any user and over any way. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { runTool } from '../../src/process/tool.ts';
import { processesOf } from '../support/leftovers.ts';
import { emulatorUser } from '../support/other-user.ts';
import { RawClient } from '../support/raw-http.ts';
import { type Config, startServer } from '../support/server.ts';
import { command, openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, type NodeBody, withServer } from '../support/with-server.ts';

const { server, client } = await withServer({ args: ['--host', '127.0.0.1'] });
/** Commands of the attacks write here. */
let canaries: string;
before(async () => {
  canaries = await mkdtemp(join(tmpdir(), 'pb-canary-'));
  await runTool('chmod', ['777', canaries], { timeoutMs: 5000 });
});
after(() => rm(canaries, { recursive: true }));

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

function vpcsPids(): number[] {
  return processesOf(server.dataDir, server.runtimeDirectory).flatMap(({ pid, commandLine }) =>
    /(^|\/)vpcs -p/.test(commandLine) ? [pid] : [],
  );
}

async function startPc(fields: Record<string, unknown> = {}): Promise<NodeBody> {
  const project = await createProject(client);
  const pc = await createNode(client, project, 'vpcs', fields);
  await client.post(`${project.path}/nodes/${pc.node_id}/start`, {}, 200);
  return { ...pc, path: `${project.path}/nodes/${pc.node_id}` };
}

/** TCP ports on which the processes listen in the network namespace of this test. */
async function listeningPorts(pids: readonly number[]): Promise<number[]> {
  const { stdout } = await runTool('ss', ['-Hlntup'], { timeoutMs: 5000 });
  const rows = stdout.split('\n').filter((row) => pids.some((pid) => row.includes(`pid=${pid},`)));
  return rows.map((row) => Number(/:(\d+)\s/.exec(row)?.[1]));
}

test('a command for the host typed on the console runs nowhere', async () => {
  const pc = await startPc();
  const canary = join(canaries, 'typed');
  const console = await openTelnet(pc.console as number);
  await console.expect(/VPCS> $/);
  for (const line of [`! touch ${canary}`, `!/bin/touch ${canary}`, `  !touch ${canary}`, '!touch typed-here'])
    await command(console, line, /VPCS> $/);
  // Its answer comes after whatever the lines before did.
  await command(console, 'show ip', /LPORT/);
  console.close();
  assert.equal(await exists(canary), false);
  const { node_directory } = await client.get<{ node_directory: string }>(String(pc.path));
  assert.equal(await exists(join(node_directory, 'typed-here')), false);
  await client.post(`${pc.path}/stop`, {}, 200);
});

test('lines of a startup script that run commands on the host are removed, and the rest is run', async () => {
  const canary = join(canaries, 'script');
  const pc = await startPc({ properties: { startup_script: `set pcname one\n! touch ${canary}\n` } });
  const console = await openTelnet(pc.console as number);
  await console.expect(/one> $/);
  console.close();
  await client.post(`${pc.path}/stop`, {}, 200);
  const { node_directory } = await client.get<{ node_directory: string }>(String(pc.path));
  const script = join(node_directory, 'startup.vpc');
  assert.doesNotMatch(await readFile(script, 'utf8'), /!/);
  await writeFile(script, `set pcname two\r\n \t! touch ${canary}\r\n!touch ${canary}`);
  await client.post(`${pc.path}/start`, {}, 200);
  const again = await openTelnet(pc.console as number);
  await again.expect(/two> $/);
  again.close();
  assert.equal(await readFile(script, 'utf8'), 'set pcname two\r\n');
  assert.equal(await exists(canary), false);
  await client.post(`${pc.path}/stop`, {}, 200);
});

test('vpcs listens nowhere on this host, sees none of its files and is not its root', async () => {
  const pc = await startPc();
  const pids = vpcsPids();
  assert.ok(pids.length > 0);
  assert.deepEqual(await listeningPorts(pids), []);
  for (const pid of pids) {
    const namespaces = ['net', 'mnt', 'ipc'].map((name) =>
      Promise.all([readlink(`/proc/${pid}/ns/${name}`), readlink(`/proc/self/ns/${name}`)]),
    );
    for (const [its, ours] of await Promise.all(namespaces)) assert.notEqual(its, ours);
    for (const path of ['bin/sh', 'etc/passwd', 'proc/self', server.dataDir])
      assert.equal(await exists(join(`/proc/${pid}/root`, path)), false, path);
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    assert.match(status, /^NoNewPrivs:\s+1$/m);
    assert.match(status, /^CapEff:\s+0+$/m);
    if (process.getuid?.() !== 0) continue;
    assert.match(status, new RegExp(`^Uid:\\s+${await emulatorUser()}\\s`, 'm'));
    assert.equal(await readFile(`/proc/${pid}/timerslack_ns`, 'utf8'), '1000000\n', 'idle, it sleeps longer than its 100 µs');
  }
  await client.post(`${pc.path}/stop`, {}, 200);
});

test('rlogin reaches no port of this host', async (t) => {
  const listener = createServer((socket) => socket.end('reached'));
  await new Promise<void>((resolve) => listener.listen(0, '0.0.0.0', resolve));
  t.after(() => listener.close());
  const address = listener.address();
  assert.ok(typeof address === 'object' && address !== null);
  let reached = 0;
  listener.on('connection', () => reached++);
  const own = Object.values(networkInterfaces())
    .flat()
    .find((entry) => entry?.family === 'IPv4' && !entry.internal)?.address;
  const pc = await startPc();
  const console = await openTelnet(pc.console as number);
  await console.expect(/VPCS> $/);
  for (const host of ['127.0.0.1', ...(own ? [own] : [])]) await command(console, `rlogin ${host} ${address.port}`, /VPCS> $/);
  console.close();
  assert.equal(reached, 0);
  await client.post(`${pc.path}/stop`, {}, 200);
});

test('a client that waits at what were the ports of vpcs is not served when the server ends', async () => {
  const pc = await startPc();
  const ports = await listeningPorts(processesOf(server.dataDir, server.runtimeDirectory).map(({ pid }) => pid));
  const consoles = ports.filter((port) => port !== pc.console && port !== server.port);
  assert.deepEqual(consoles, [], 'no further port has a console');
  await client.post(`${pc.path}/stop`, {}, 200);
});

test('frames that another process of this host sends to the port of its link do not arrive', async () => {
  const pc = await startPc();
  const { stdout } = await runTool('ss', ['-Hnup'], { timeoutMs: 5000 });
  const relays = processesOf(server.dataDir, server.runtimeDirectory).filter(({ commandLine }) => /socat.*FD:3/.test(commandLine));
  assert.ok(relays.length > 0);
  const sockets = stdout.split('\n').filter((row) => relays.some(({ pid }) => row.includes(`pid=${pid},`)));
  assert.ok(sockets.length > 0, 'its socket takes datagrams of one sender only');
  await client.post(`${pc.path}/stop`, {}, 200);
  await waitFor(() => vpcsPids().length === 0, { what: 'the end of vpcs' });
});

describe('where namespaces are not permitted', {
  skip: process.getuid?.() !== 0 && 'only root has a capability to give up',
}, () => {
  async function startWithout(t: TestContext, config: Config) {
    const launcher = ['setpriv', '--bounding-set=-sys_admin', '--'];
    const bare = await startServer({ launcher, config });
    const asker = new RawClient(bare.url);
    t.after(async () => {
      asker.close();
      await bare.stop();
    });
    const project = await createProject(asker);
    const pc = await createNode(asker, project, 'vpcs', { properties: { startup_script: 'set pcname bare\n' } });
    return { bare, asker, pc, path: `${project.path}/nodes/${pc.node_id}` };
  }

  test('a VPCS is not started, and the message says what to do', async (t) => {
    const { bare, asker, path } = await startWithout(t, {});
    const reply = await asker.send(`POST ${path}/start`, { body: {} });
    assert.equal(reply.status, 409);
    assert.match(reply.text(), /cannot be confined.*Operation not permitted.*confine = False/);
    const left = processesOf(bare.dataDir, bare.runtimeDirectory).filter(({ commandLine }) =>
      /vpcs|socat|launch/.test(commandLine),
    );
    assert.deepEqual(left, []);
    assert.equal((await asker.get<NodeBody>(path)).status, 'stopped');
  });

  test('it is when the configuration allows it, without the lines of its script that run commands', async (t) => {
    const { asker, pc, path } = await startWithout(t, { VPCS: { confine: false } });
    const { node_directory } = await asker.get<{ node_directory: string }>(path);
    const canary = join(canaries, 'bare');
    await writeFile(join(node_directory, 'startup.vpc'), `!touch ${canary}\nset pcname bare\n`);
    await asker.post(`${path}/start`, {}, 200);
    const console = await openTelnet(pc.console as number);
    await console.expect(/bare> $/);
    console.close();
    assert.equal(await exists(canary), false);
    await asker.post(`${path}/stop`, {}, 200);
  });
});
