/**
 * The uplink by passt: a real VM (iPXE, which is part of QEMU's own ROMs) behind a NAT node gets a lease, resolves a name and fetches a file over
 * TCP from this host; again after the fabric was killed, and after the server was.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { atPrompt, type } from '../support/ipxe.ts';
import { type LeftProcess, processesOf } from '../support/leftovers.ts';
import { openNameServer } from '../support/name-server.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import type { TelnetClient } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, tinyVm, withServer } from '../support/with-server.ts';

const isRoot = process.geteuid?.() === 0;
const gateway = '192.168.122.1';
/** Only root may bind the resolver's port; without it the guest uses the address. */
const resolver = '127.7.7.7';

const asked: string[] = [];
const web = createServer((request, response) => {
  asked.push(request.url ?? '');
  response.end('hello from outside\n');
}).listen(0, '127.0.0.1');
await once(web, 'listening');
const webPort = (web.address() as { port: number }).port;
const names = isRoot ? await openNameServer(resolver, gateway) : undefined;
after(() => {
  web.close();
  names?.close();
});

const { server, client } = await withServer({
  config: { NAT: { engine: 'passt', host_access: true, ...(isRoot && { dns_server: resolver }) } },
});

/** Fetches a file; a try during which frames were lost is made again. */
async function fetches(console: TelnetClient, path: string): Promise<void> {
  const host = isRoot ? 'outside.lab' : gateway;
  await waitFor(
    async () => {
      await type(console, `imgfetch http://${host}:${webPort}${path}`);
      await console.expect(/ok|rror|imed out/);
      return asked.includes(path);
    },
    { what: `a fetch of ${path}`, limitMs: 60_000 },
  );
}

test('a VM behind a NAT node: lease, name, file; the fabric and the server killed', async () => {
  const project = await createProject(client);
  const nat = await createNode(client, project, 'nat', { name: 'out' });
  assert.equal(nat.status, 'started');
  assert.deepEqual([nat.console, nat.console_type, nat.command_line], [null, null, null]);
  assert.deepEqual(nat.properties, {
    ports_mapping: [{ interface: 'virbr0', name: 'nat0', port_number: 0, type: 'ethernet' }],
  });
  assert.deepEqual(
    (nat.ports as { name: string }[]).map(({ name }) => name),
    ['nat0'],
  );
  const vm = await createNode(client, project, 'qemu', { properties: { ...tinyVm, ram: 32 } });
  const link = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(vm), end(nat)] });
  expectStatus(await client.send(`POST ${project.path}/nodes/${vm.node_id}/start`, { body: {} }), 200);
  const console = await atPrompt(await client.get<NodeBody>(`${project.path}/nodes/${vm.node_id}`));
  await type(console, 'dhcp');
  await console.expect(/ok/);
  await type(console, 'route');
  await console.expect(/192\.168\.122\.100\/255\.255\.255\.0 gw 192\.168\.122\.1/);
  await fetches(console, '/first');

  const [fabric] = running('fabric/main.');
  assert.ok(fabric);
  process.kill(fabric.pid, 'SIGKILL');
  await waitFor(() => !running('fabric/main.').some(({ pid }) => pid === fabric.pid), { what: 'its end' });
  await fetches(console, '/second');

  await server.kill9();
  await server.restart();
  await client.post(`${project.path}/open`);
  const again = await atPrompt(await client.get<NodeBody>(`${project.path}/nodes/${vm.node_id}`));
  await fetches(again, '/third');

  assert.equal(running('passt').length, 1);
  await client.delete(`${project.path}/links/${link.link_id}`);
  assert.deepEqual(running('passt'), []);
  await client.post(`${project.path}/nodes/${vm.node_id}/stop`, {}, 200);
  again.close();
  console.close();
});

test('commands of a NAT node, and refusals', async () => {
  const project = await createProject(client);
  const nat = await createNode(client, project, 'nat');
  const path = `${project.path}/nodes/${nat.node_id}`;
  for (const verb of ['start', 'stop', 'suspend']) {
    expectStatus(await client.send(`POST ${path}/${verb}`, { body: {} }), 200);
    assert.equal((await client.get<NodeBody>(path)).status, 'started', verb);
  }
  expectFault(await client.send(`POST ${path}/reload`, { body: {} }), 404);
  expectFault(await client.send(`POST ${path}/duplicate`, { body: { x: 0, y: 0 } }), 409);
  const changed = await client.put<NodeBody>(path, { properties: { ports_mapping: [] }, name: 'renamed' });
  assert.equal((changed.properties.ports_mapping as unknown[]).length, 1);
  const other = await createNode(client, project, 'nat');
  expectFault(await client.send(`POST ${project.path}/links`, { body: { nodes: [end(nat), end(other)] } }), 409, /are uplinks/);
  expectFault(await client.send(`POST ${project.computePath}/nat/nodes`, { body: {} }), 400, /name/);
  await client.delete(path);
});

function running(what: string): LeftProcess[] {
  return processesOf(server.dataDir, server.runtimeDirectory).filter(({ commandLine }) => commandLine.includes(what));
}
