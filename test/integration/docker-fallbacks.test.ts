/** Containers where the fabric cannot hold TAP interfaces, and where the kernel cannot redirect frames. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { DockerEngine, noEngine } from '../support/docker-engine.ts';
import { processesOf } from '../support/leftovers.ts';
import { expectStatus } from '../support/raw-http.ts';
import { openTelnet, type TelnetClient } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, withServer } from '../support/with-server.ts';

const skip = await noEngine();
const engine = skip === undefined ? await DockerEngine.start() : undefined;
const folder = await mkdtemp(join(tmpdir(), 'pb-tools-'));
after(async () => {
  await engine?.stop();
  await rm(folder, { recursive: true });
});
// A kernel without these rules, as far as the server can see.
await writeFile(join(folder, 'tc'), '#!/bin/sh\necho "Error: Specified qdisc kind is unknown." >&2\nexit 2\n', { mode: 0o755 });
const config = { Docker: { socket_path: engine?.socket ?? '/nowhere/docker.sock' } };

async function ask(console: TelnetClient, line: string, shows: RegExp): Promise<void> {
  console.send(`${line}\r`);
  await console.expect(shows, 15_000);
}

async function lab(env: Record<string, string>) {
  const { server, client } = await withServer({ config, env });
  const project = await createProject(client);
  const consoles: TelnetClient[] = [];
  const nodes: NodeBody[] = [];
  for (const address of ['10.8.0.1', '10.8.0.2']) {
    const fields = { properties: { image: 'pb-test' }, console_type: 'telnet' };
    const node = await createNode(client, project, 'docker', fields);
    expectStatus(await client.send(`POST ${project.path}/nodes/${node.node_id}/start`, { body: {}, limitMs: 60_000 }), 200);
    const console = await openTelnet(node.console as number);
    await ask(console, `ip addr add ${address}/24 dev eth0; echo do""ne`, /done/);
    consoles.push(console);
    nodes.push(node);
  }
  const [one, two] = nodes as [NodeBody, NodeBody];
  const [console, other] = consoles as [TelnetClient, TelnetClient];
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(one), end(two)] });
  // The first frame may come before a TAP interface has its holder.
  const pings = (by = console) =>
    waitFor(() => ask(by, 'ping -c 2 -W 5 10.8.0.2; echo en""d', / 0% packet loss.*end/s).then(() => true), { what: 'a ping' });
  await pings();
  assert.equal((await client.get<{ carrier: string }>(`${project.path}/links/${link_id}/stats`)).carrier, 'fabric');
  const finish = async () => {
    console.close();
    other.close();
    await client.delete(project.path);
  };
  return { server, client, project, one, pings, finish };
}

const socatsOf = (server: { dataDir: string; runtimeDirectory: string }) =>
  processesOf(server.dataDir, server.runtimeDirectory).filter(({ commandLine }) => /^\S*socat .*TUN/.test(commandLine));

describe('containers', { skip }, () => {
  test('without koffi: their TAP interfaces are held by socats; SIGKILL of one, and of one while no server runs', async () => {
    const { server, client, project, one, pings, finish } = await lab({ PATCHBAY_NATIVE: 'off' });
    const [first] = socatsOf(server);
    assert.ok(first);
    process.kill(first.pid, 'SIGKILL');
    await waitFor(() => socatsOf(server).length === 2, { what: 'another socat' });
    await pings();
    await server.kill9();
    for (const { pid } of socatsOf(server)) process.kill(pid, 'SIGKILL');
    await server.restart();
    await client.post(`${project.path}/open`);
    // The addresses were set by hand, so the interfaces are the same.
    const again = await openTelnet(one.console as number);
    await pings(again);
    again.close();
    await finish();
  });

  test('without rules of tc: a TAP interface is moved into the container', async () => {
    const { server, pings, finish } = await lab({ PATH: `${folder}:${process.env.PATH}` });
    assert.equal(socatsOf(server).length, 2);
    assert.match(server.log(), /cannot redirect/);
    await pings();
    await finish();
  });
});
