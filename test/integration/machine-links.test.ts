/** Links between virtual machines on TAP interfaces: which way their frames take, what survives which death, and what stands on the host. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { Console } from '../../demo/console.ts';
import { ensureGuest } from '../../demo/guest/guest.ts';
import { machineProperties } from '../../demo/topology.ts';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import { noContainerEnds } from '../support/container-end.ts';
import { processesNamed } from '../support/leftovers.ts';
import { noOrdinaryUser, userServer } from '../support/ordinary-user.ts';
import { RawClient } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody } from '../support/with-server.ts';

/** Limit for machines without hardware acceleration on a busy host. */
const limitMs = 300_000;
const skip = (await noContainerEnds()) ?? false;
const server = await startServer({ stopNodes: false, config: { Qemu: { acceleration: 'off' } } });
after(() => server.stop());
const client = new RawClient(server.url);
after(() => client.close());
const { kernel, initrd } = await ensureGuest();
const hostInterfaces = () => readdirSync('/sys/class/net').filter((name) => /^pb[vtw]/.test(name));

interface Site {
  readonly server: RunningServer;
  readonly client: RawClient;
  /** Paths of the guest that the server may read. */
  readonly guest: { readonly kernel: string; readonly initrd: string };
}
const site: Site = { server, client, guest: { kernel, initrd } };

interface Pair {
  readonly path: string;
  readonly link: string;
  readonly nodes: readonly [NodeBody, NodeBody];
}

async function pair({ client, guest }: Site): Promise<Pair> {
  const project = await createProject(client, { auto_close: false });
  const make = (name: string, address: string) =>
    createNode(client, project, 'qemu', { name, properties: machineProperties(guest, name, [`${address}/24`]) });
  const nodes = [await make('VM1', '10.0.0.1'), await make('VM2', '10.0.0.2')] as const;
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: nodes.map((node) => end(node)) });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  for (const node of nodes) await onConsole(node, (console) => console.expect(/GUEST READY.*# $/s, limitMs));
  return { path: project.path, link: `${project.path}/links/${link_id}`, nodes };
}

async function onConsole<T>(node: NodeBody, use: (console: Console) => Promise<T>): Promise<T> {
  const console = await Console.open(node.console as number);
  try {
    return await use(console);
  } finally {
    console.close();
  }
}

const stats = ({ client }: Site, link: string) => client.get<LinkStats>(`${link}/stats`);
const carriedBy = (at: Site, link: string, carrier: string) =>
  waitFor(async () => (await stats(at, link)).carrier === carrier, { what: `the carrier ${carrier}`, limitMs });

const firstAnswer = 'until grep -q seq= /tmp/pings; do usleep 20000; done';

/** Pings VM2 from VM1 from before `work` until after it: each one up to the last answer is answered. */
async function assertAnswered(node: NodeBody, work: () => Promise<void> = async () => {}): Promise<void> {
  // Answers that come while an address is resolved, or the guest has no processor, wait in a buffer of ping's, which holds seven.
  const begin = `until ping -c 1 -W 5 10.0.0.2; do true; done; ping -i 0.1 10.0.0.2 > /tmp/pings & ${firstAnswer}`;
  await onConsole(node, (console) => console.run(begin, limitMs));
  await work();
  // A ping is sent and answered after the work. Those that are in the fabric when the path changes are overtaken, and may be late.
  const last = "$(grep -o 'seq=[0-9]*' /tmp/pings | cut -d= -f2 | sort -n | tail -n 1)";
  const late = `tries=0; until [ $(grep -c seq= /tmp/pings) -gt ${last} ] || [ $tries -gt 500 ]; do usleep 20000; tries=$((tries + 1)); done`;
  const finish = `seen=$(wc -l < /tmp/pings); until [ $(wc -l < /tmp/pings) -gt $((seen + 1)) ]; do usleep 20000; done; ${late}; kill $!; wait`;
  const output = await onConsole(node, (console) => console.run(`${finish}; echo begin; grep -o seq=.* /tmp/pings`, limitMs));
  // The console replays what it showed before: the last list counts.
  const numbers = [...output.slice(output.lastIndexOf('begin')).matchAll(/seq=(\d+)/g)].map(([, number]) => Number(number));
  assert.ok(numbers.length >= 2, output);
  assert.deepEqual(
    numbers.toSorted((a, b) => a - b),
    Array.from(numbers.keys()),
  );
}

/** No ping passes. */
async function assertSilent(node: NodeBody): Promise<void> {
  const output = await onConsole(node, (console) => console.run('ping -i 0.1 -c 5 -W 1 10.0.0.2', limitMs));
  assert.match(output, /5 packets transmitted, 0 packets received/);
}

const holder = async ({ server }: Site) =>
  JSON.parse(await readFile(join(server.runtimeDirectory, 'link-namespace.json'), 'utf8')) as { pid: number };
const fabricPid = ({ server }: Site) =>
  Number(
    /fabric (\d+) listens/.exec(
      readFileSync(join(server.dataDir, 'state/fabric.log'), 'utf8')
        .split('\n')
        .findLast((line) => line.includes('listens')) ?? '',
    )?.[1],
  );

test(
  'the kernel carries a plain link between machines, and the fabric one with filters; nothing stands on the host',
  {
    skip,
    timeout: 900_000,
  },
  (context) => switchesAndSurvives(site, context),
);

test('a server of an ordinary user has the same links, and machines without a privilege over them', {
  skip: skip || ((await noOrdinaryUser()) ?? false),
  timeout: 900_000,
}, async (context) => {
  await using options = await userServer();
  await using made = new AsyncDisposableStack();
  const own = await startServer({ ...options, stopNodes: false, config: { Qemu: { acceleration: 'off' } } });
  made.defer(() => own.stop());
  const ownClient = new RawClient(own.url);
  made.defer(async () => void (await ownClient.close()));
  await sendGuest(ownClient);
  const at = { server: own, client: ownClient, guest: { kernel: 'links-kernel', initrd: 'links-initrd' } };
  await switchesAndSurvives(at, context, async ({ nodes }) => {
    const { command_line } = await ownClient.get<{ command_line: string }>(
      `/v2/projects/${nodes[0].project_id}/nodes/${nodes[0].node_id}`,
    );
    const { pid } = processesNamed(command_line.slice(0, 200)).find(({ commandLine }) => commandLine.startsWith('/')) ?? { pid: 0 };
    const ofHolder = await readlink(`/proc/${(await holder(at)).pid}/ns/user`);
    const ofMachine = await readlink(`/proc/${pid}/ns/user`);
    assert.notEqual(ofMachine, ofHolder, 'a machine is not in the user namespace that owns its network');
    assert.match(await readFile(`/proc/${pid}/status`, 'utf8'), /^CapEff:\t0+$/m);
  });
});

async function switchesAndSurvives(at: Site, context: TestContext, look = async (_lab: Pair) => {}): Promise<void> {
  const { server, client } = at;
  const lab = await pair(at);
  context.after(() => client.delete(lab.path).catch(() => undefined));
  const [one] = lab.nodes;
  await carriedBy(at, lab.link, 'kernel');
  const { pid } = await holder(at);
  const own = JSON.parse(execFileSync('nsenter', [`--net=/proc/${pid}/ns/net`, 'ip', '-json', 'link'], { encoding: 'utf8' })) as {
    ifname: string;
  }[];
  const names = new Set(own.map(({ ifname }) => ifname));
  assert.ok(names.size >= 3, 'two interfaces and lo');
  assert.deepEqual(
    hostInterfaces().filter((name) => names.has(name)),
    [],
  );
  await assertAnswered(one);
  // The kernel's counters are read every now and then.
  const received = async () => (await stats(at, lab.link)).directions[0]?.received_frames ?? 0;
  await waitFor(async () => (await received()) >= 2, { what: 'frames in the counters', limitMs });

  const ways = async () => {
    for (const filters of [{ delay: [5] }, {}, { latency: [2] }, {}]) await client.put(lab.link, { filters }, 201);
  };
  await assertAnswered(one, ways);
  await carriedBy(at, lab.link, 'kernel');

  await client.put(lab.link, { suspend: true }, 201);
  await assertSilent(one);
  await client.put(lab.link, { suspend: false }, 201);
  await carriedBy(at, lab.link, 'kernel');

  // A server, a fabric and a holder that are killed lose no frame on this path.
  await assertAnswered(one, async () => {
    process.kill(fabricPid(at), 'SIGKILL');
    process.kill((await holder(at)).pid, 'SIGKILL');
    await server.kill9();
    await server.restart();
    await carriedBy(at, lab.link, 'kernel');
  });
  await client.put(lab.link, { filters: { delay: [3] } }, 201);
  await assertAnswered(one);

  await look(lab);
}

async function sendGuest(to: RawClient): Promise<void> {
  for (const [name, path] of Object.entries({ kernel, initrd }))
    assert.equal((await to.send(`POST /v2/compute/qemu/images/links-${name}`, { raw: await readFile(path) })).status, 204);
}

test('while a compute has no TAP interfaces, machines start so that they can move there, and move', {
  skip,
  timeout: 900_000,
}, async (context) => {
  // A server that can make no namespace has no TAP interfaces for machines.
  const stubs = await mkdtemp(join(tmpdir(), 'pb-stubs-'));
  context.after(() => rm(stubs, { recursive: true }));
  await writeFile(join(stubs, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const env = { PATH: `${stubs}:${process.env.PATH}` };
  const far = await startServer({ config: { Qemu: { acceleration: 'off' } }, env });
  context.after(() => far.stop());
  const images = new RawClient(far.url);
  context.after(() => images.close());
  for (const compute of [client, images]) await sendGuest(compute);
  const place = { protocol: 'http', host: '127.0.0.1', port: far.port };
  const { compute_id } = await client.post<{ compute_id: string }>('/v2/computes', { name: 'far', ...place });
  context.after(() => client.delete(`/v2/computes/${compute_id}`));
  const project = await createProject(client, { auto_close: false });
  context.after(() => client.delete(project.path));
  const guest = { kernel: 'links-kernel', initrd: 'links-initrd' };
  const make = (name: string, more: object) =>
    createNode(client, project, 'qemu', { name, properties: { ...machineProperties(guest, name, ['10.0.0.1/24']), ...more } });
  const [node, full] = [await make('VM1', {}), await make('VM2', { offload: 'full' })];
  await client.post(`${project.path}/nodes/start`, {}, 204);
  const path = `${project.path}/nodes/${node.node_id}`;
  const line = async ({ node_id }: NodeBody) =>
    (await client.get<{ command_line: string }>(`${project.path}/nodes/${node_id}`)).command_line;
  assert.match(await line(node), /-netdev tap,\S+,vnet_hdr=off/);
  assert.match(await line(full), /-netdev tap,(?!\S*vnet_hdr=off)/);
  const refused = await client.post<{ message: string }>(`${project.path}/nodes/${full.node_id}/migrate`, { compute_id }, 409);
  assert.match(refused.message, /offload/);
  await client.post(`${project.path}/nodes/${full.node_id}/stop`, {}, 200);
  await onConsole(node, (console) => console.expect(/GUEST READY.*# $/s, limitMs));
  await onConsole(node, (console) => console.run('echo kept > /tmp/word', limitMs));

  // A move to a stream, and one back to a TAP interface, each time without offloads.
  for (const [to, netdev] of [
    [compute_id, /-netdev stream,/],
    ['local', /-netdev tap,\S+,vnet_hdr=off/],
  ] as const) {
    await client.post(`${path}/migrate`, { compute_id: to }, 200);
    const moved = await client.get<NodeBody>(path);
    assert.match(await line(node), netdev);
    assert.match(await onConsole(moved, (console) => console.run('cat /tmp/word', limitMs)), /kept/);
  }

  // The other compute is gone: the next start has offloads.
  await client.post(`${path}/stop`, {}, 200);
  await client.delete(`/v2/computes/${compute_id}`);
  await client.post(`${path}/start`, {}, 200);
  assert.match(await line(node), /-netdev tap,(?!\S*vnet_hdr=off)/);
});
