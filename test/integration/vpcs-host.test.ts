/** The program vpcs runs commands of its host and connects to it: a PC of the fabric does neither, from its console or its script. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runTool } from '../../src/process/tool.ts';
import { command, openTelnet } from '../support/telnet.ts';
import { createNode, createProject, type NodeBody, withServer } from '../support/with-server.ts';

const { client } = await withServer({ args: ['--host', '127.0.0.1'] });
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

async function startPc(startup_script: string): Promise<NodeBody> {
  const project = await createProject(client);
  const pc = await createNode(client, project, 'vpcs', { properties: { startup_script } });
  await client.post(`${project.path}/nodes/${pc.node_id}/start`, {}, 200);
  return { ...pc, path: `${project.path}/nodes/${pc.node_id}` };
}

test('a command for the host runs nowhere, typed or in a script, whose other lines are run', async () => {
  const [typed, scripted] = [join(canaries, 'typed'), join(canaries, 'scripted')];
  const pc = await startPc(`! touch ${scripted}\n \t!touch ${scripted}\nset pcname one\n`);
  const console = await openTelnet(pc.console as number);
  await console.expect(/one> $/);
  for (const line of [`! touch ${typed}`, `!/bin/touch ${typed}`, `  !touch ${typed}`, '!touch typed-here'])
    await command(console, line, /one> $/);
  // The answer to this command comes after any effect of the lines before.
  await command(console, 'show ip', /NAME.*one> $/s);
  console.close();
  const { node_directory } = await client.get<{ node_directory: string }>(String(pc.path));
  for (const path of [typed, scripted, join(node_directory, 'typed-here')]) assert.equal(await exists(path), false, path);
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
  const pc = await startPc('set pcname two\n');
  const console = await openTelnet(pc.console as number);
  await console.expect(/two> $/);
  for (const host of ['127.0.0.1', ...(own ? [own] : [])]) {
    // A session with the PC itself is ended by Ctrl+X.
    console.send(`rlogin ${host} ${address.port}\r\n`);
    await console.expect(/press Ctrl\+X to quit/);
    await command(console, '\x18', /two> $/);
  }
  console.close();
  assert.equal(reached, 0);
  await client.post(`${pc.path}/stop`, {}, 200);
});
