/** Containers where the kernel cannot redirect frames, and without a link namespace. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { DockerEngine, noEngine } from '../support/docker-engine.ts';
import { interfacesOf, processesOf } from '../support/leftovers.ts';
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

async function lab(env: Record<string, string>, carrier = 'fabric') {
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
  const isCarried = async () =>
    (await client.get<{ carrier: string }>(`${project.path}/links/${link_id}/stats`)).carrier === carrier;
  const carried = () => waitFor(isCarried, { what: `the carrier ${carrier}` });
  await carried();
  const finish = async () => {
    console.close();
    other.close();
    await client.delete(project.path);
  };
  return { server, client, project, one, two, link_id, pings, carried, finish };
}

const socatsOf = (server: { dataDir: string; runtimeDirectory: string }) =>
  processesOf(server.dataDir, server.runtimeDirectory).filter(({ commandLine }) => /^\S*socat .*TUN/.test(commandLine));

describe('containers', { skip }, () => {
  test('without rules of tc: a TAP interface that a socat holds is moved into the container, also after SIGKILL of the socat', async () => {
    const { server, one, pings, finish } = await lab({ PATH: `${folder}:${process.env.PATH}` });
    const [first, second] = socatsOf(server);
    assert.ok(first && second);
    assert.match(server.log(), /cannot redirect/);
    await pings();
    for (const { pid } of [first, second]) process.kill(pid, 'SIGKILL');
    const renewed = () => socatsOf(server).filter(({ pid }) => pid !== first.pid && pid !== second.pid).length === 2;
    await waitFor(renewed, { what: 'other socats' });
    const console = await openTelnet(one.console as number);
    await waitFor(() => ask(console, 'ip link show dev eth0 && echo is" there"', /is there/).then(() => true), { what: 'eth0' });
    console.close();
    await finish();
  });

  test('those with interfaces on the host, as an earlier version made them, keep these and their path until they start again', async () => {
    const stubs = await mkdtemp(join(tmpdir(), 'pb-stubs-'));
    await writeFile(join(stubs, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const { server, client, project, one, two, link_id, pings, carried, finish } = await lab(
      { PATH: `${stubs}:${process.env.PATH}` },
      'kernel',
    );
    const own = () => interfacesOf(server.runtimeDirectory).length;
    assert.equal(own(), 4);
    await rm(stubs, { recursive: true });
    await server.kill9();
    await server.restart();
    await client.post(`${project.path}/open`);
    const again = await openTelnet(one.console as number);
    await carried();
    await pings(again);
    assert.equal(own(), 4);
    again.close();
    for (const { node_id } of [one, two]) await client.post(`${project.path}/nodes/${node_id}/reload`, {}, 200);
    await carried();
    assert.equal(own(), 0);
    assert.equal((await client.get<{ carrier: string }>(`${project.path}/links/${link_id}/stats`)).carrier, 'kernel');
    await finish();
  });
});
