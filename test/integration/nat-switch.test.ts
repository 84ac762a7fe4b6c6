/**
 * The uplink by QEMU's user network: several real VMs (iPXE) on one switch behind one NAT node. Each has its own address, and they
 * fetch at the same time; again after the fabric was killed, and after the server was. Without host access names are still answered, and
 * nothing reaches this host's loopback.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import { atPrompt, type } from '../support/ipxe.ts';
import { processesOf } from '../support/leftovers.ts';
import { openNameServer } from '../support/name-server.ts';
import { expectStatus, type RawClient } from '../support/raw-http.ts';
import { command, openTelnet, skipHistory, type TelnetClient } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, tinyVm, withServer } from '../support/with-server.ts';

const isRoot = process.geteuid?.() === 0;
const gateway = '192.168.122.1';
const resolver = '127.7.7.8';
/** Name or address that the guests use: only root may have a resolver of its own. */
const outside = isRoot ? 'outside.lab' : gateway;
const userNetwork = '-netdev user';

const folder = await mkdtemp(join(tmpdir(), 'pb-'));
const asked: string[] = [];
const web = createServer((request, response) => {
  asked.push(request.url ?? '');
  response.end('hello from outside\n');
}).listen(0, '127.0.0.1');
await once(web, 'listening');
const { port: webPort } = web.address() as { port: number };
const names = isRoot ? await openNameServer(resolver, gateway) : undefined;
let namesAsked = 0;
names?.on('message', () => {
  namesAsked += 1;
});
after(async () => {
  web.close();
  names?.close();
  await rm(folder, { recursive: true });
});

const launcher = isRoot ? await withResolver() : [];
const open = await withServer({ launcher, config: { NAT: { engine: 'qemu', host_access: true } } });
const closed = await withServer({ launcher, config: { NAT: { engine: 'qemu' } } });

/** Words before a server, which make the host use our resolver. */
async function withResolver(): Promise<string[]> {
  const settings = join(folder, 'resolv.conf');
  await writeFile(settings, `nameserver ${resolver}\n`);
  return ['unshare', '--mount', 'sh', '-c', `mount --bind ${settings} /etc/resolv.conf && exec "$@"`, 'sh'];
}

/** A started VM with a link to `peer`. */
async function startVm(client: RawClient, project: ProjectHandle, peer: ReturnType<typeof end>): Promise<NodeBody> {
  const vm = await createNode(client, project, 'qemu', { properties: { ...tinyVm, ram: 32 } });
  await client.post(`${project.path}/links`, { nodes: [end(vm), peer] });
  expectStatus(await client.send(`POST ${project.path}/nodes/${vm.node_id}/start`, { body: {} }), 200);
  return client.get<NodeBody>(`${project.path}/nodes/${vm.node_id}`);
}

/** The address that a guest has been given. */
async function lease(console: TelnetClient): Promise<string> {
  await type(console, 'dhcp');
  await console.expect(/ok/, 60_000);
  await type(console, 'route');
  const [, address = ''] = await console.expect(/(192\.168\.122\.\d+)\/255\.255\.255\.0 gw 192\.168\.122\.1/, 5000);
  return address;
}

/** Fetches a file; a try during which frames were lost is made again. */
async function fetches(console: TelnetClient, path: string): Promise<void> {
  await waitFor(
    async () => {
      await type(console, `imgfetch http://${outside}:${webPort}${path}`);
      await console.expect(/ok|rror|imed out/, 20_000);
      return asked.includes(path);
    },
    { what: `a fetch of ${path}`, limitMs: 60_000 },
  );
}

const running = (what: string) =>
  processesOf(open.server.dataDir, open.server.runtimeDirectory).filter(({ commandLine }) => commandLine.includes(what));

test('two VMs on a switch behind one NAT node; the fabric and the server killed', { timeout: 200_000 }, async () => {
  const { client, server } = open;
  const project = await createProject(client);
  const nat = await createNode(client, project, 'nat');
  const ethernet = await createNode(client, project, 'ethernet_switch');
  const wayOut = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(nat), end(ethernet, 0, 0)] });
  const vms = await Promise.all([1, 2].map((port) => startVm(client, project, end(ethernet, 0, port))));
  const consoles = await Promise.all(vms.map(atPrompt));
  const addresses = await Promise.all(consoles.map(lease));
  assert.deepEqual(addresses.sort(), ['192.168.122.100', '192.168.122.101']);
  await Promise.all(consoles.map((console, guest) => fetches(console, `/first/${guest}`)));
  if (isRoot) assert.ok(namesAsked >= 2);

  const [fabric] = running('fabric/main.');
  assert.ok(fabric);
  process.kill(fabric.pid, 'SIGKILL');
  await waitFor(() => !running('fabric/main.').some(({ pid }) => pid === fabric.pid), { what: 'its end' });
  await Promise.all(consoles.map((console, guest) => fetches(console, `/second/${guest}`)));

  const [before] = running(userNetwork);
  await server.kill9();
  await server.restart();
  await client.post(`${project.path}/open`);
  const again = await Promise.all(
    vms.map(async ({ node_id }) => atPrompt(await client.get<NodeBody>(`${project.path}/nodes/${node_id}`))),
  );
  await Promise.all(again.map((console, guest) => fetches(console, `/third/${guest}`)));

  assert.deepEqual(
    running(userNetwork).map(({ pid }) => pid),
    [before?.pid],
  );
  await client.delete(`${project.path}/links/${wayOut.link_id}`);
  assert.deepEqual(running(userNetwork), []);
  for (const console of [...consoles, ...again]) console.close();
  await client.post(`${project.path}/nodes/stop`, {}, 204);
});

test('without host access: a lease and names, and no way to this host’s loopback', { timeout: 120_000 }, async () => {
  const { client } = closed;
  const project = await createProject(client);
  const nat = await createNode(client, project, 'nat');
  const console = await atPrompt(await startVm(client, project, end(nat)));
  assert.equal(await lease(console), '192.168.122.100');
  const namesBefore = namesAsked;
  // Milliseconds, in which the guest keeps a core busy: the first resolves the gateway and the name, the others have both.
  const limits = [3000, 1000, 1000, 1000];
  for (const [index, host] of [outside, gateway, '127.0.0.1', '0.0.0.1'].entries()) {
    await type(console, `imgfetch --timeout ${limits[index]} http://${host}:${webPort}/no`);
    await console.expect(/rror|imed out|unreachable|could not/i, 40_000);
  }
  if (isRoot) assert.ok(namesAsked > namesBefore);
  assert.ok(!asked.includes('/no'));
  const [stats] = await client.get<LinkStats[]>(`${project.path}/link_stats`);
  const dropped = stats?.directions.find(({ to_node_id }) => to_node_id === nat.node_id)?.dropped;
  assert.ok((dropped?.not_admitted ?? 0) >= 4, JSON.stringify(stats));
  console.close();
  await client.post(`${project.path}/nodes/stop`, {}, 204);
});

test('a vpcs takes a lease, and reaches the gateway', { timeout: 120_000 }, async () => {
  const { client } = open;
  const project = await createProject(client);
  const nat = await createNode(client, project, 'nat');
  const pc = await createNode(client, project, 'vpcs');
  await client.post(`${project.path}/links`, { nodes: [end(pc), end(nat)] });
  await client.post(`${project.path}/nodes/${pc.node_id}/start`, {}, 200);
  const console = await openTelnet(pc.console as number);
  await skipHistory(console);
  await console.expect(/> $/);
  await command(console, 'ip dhcp', /IP 192\.168\.122\.100\/24 GW 192\.168\.122\.1/, 15_000);
  await command(console, `ping ${gateway} -c 1`, /seq=1 ttl=/, 10_000);
  console.close();
  await client.post(`${project.path}/nodes/${pc.node_id}/stop`, {}, 200);
});
