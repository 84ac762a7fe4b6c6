/** Links of virtual machines where TAP interfaces cannot be made, or are lost: the next best path carries them, and nothing stays on the host. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { chmod, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProgram } from '../../src/emulators/host/find-program.ts';
import { LinkNamespace } from '../../src/emulators/host/link-namespace.ts';
import { makeMachineTaps, removeMachineTaps, type TapPort } from '../../src/emulators/port-processes/machine-taps.ts';
import { runTool } from '../../src/process/tool.ts';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import type { Settings } from '../../src/schema/settings.ts';
import { noContainerEnds } from '../support/container-end.ts';
import { noOrdinaryUser, userServer } from '../support/ordinary-user.ts';
import { RawClient } from '../support/raw-http.ts';
import { type RunningServer, type ServerOptions, startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { linkOf, startFabric } from '../support/with-fabric.ts';
import { createNode, createProject, end, idleVm, type NodeBody, type ProjectHandle } from '../support/with-server.ts';

const limitMs = 300_000;
const toolLimitMs = 10_000;
const skip = (await noContainerEnds()) ?? false;
const hostInterfaces = () => readdirSync('/sys/class/net').filter((name) => /^pb[vtws]/.test(name));

interface Site {
  readonly server: RunningServer;
  readonly client: RawClient;
  readonly project: ProjectHandle;
}

async function withSite(options: ServerOptions, use: (site: Site) => Promise<void>): Promise<void> {
  await using made = new AsyncDisposableStack();
  const before = hostInterfaces();
  const server = await startServer({ config: { Qemu: { acceleration: 'off' } }, ...options });
  made.defer(() => server.stop());
  const client = new RawClient(server.url);
  made.defer(async () => void (await client.close()));
  await use({ server, client, project: await createProject(client, { auto_close: false }) });
  await made.disposeAsync();
  // Interfaces of other tests go, too.
  const left = hostInterfaces().filter((name) => !before.includes(name));
  const isGone = () => !hostInterfaces().some((name) => left.includes(name));
  await waitFor(isGone, { what: `the end of ${left}`, limitMs: 120_000 });
}

async function startPair({ client, project }: Site): Promise<{ readonly nodes: readonly NodeBody[]; readonly link: string }> {
  const nodes = [await createNode(client, project, 'qemu', { name: 'VM1', properties: idleVm })];
  nodes.push(await createNode(client, project, 'qemu', { name: 'VM2', properties: idleVm }));
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: nodes.map((node) => end(node)) });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  return { nodes, link: `${project.path}/links/${link_id}` };
}

const lineOf = async ({ client, project }: Site, { node_id }: NodeBody) =>
  (await client.get<{ command_line: string }>(`${project.path}/nodes/${node_id}`)).command_line;

const carriedBy = ({ client }: Site, link: string, carrier: string) =>
  waitFor(async () => (await client.get<LinkStats>(`${link}/stats`)).carrier === carrier, {
    what: `the carrier ${carrier}`,
    limitMs,
  });

async function assertStreams(site: Site, reason: RegExp): Promise<void> {
  const { nodes, link } = await startPair(site);
  for (const node of nodes) assert.match(await lineOf(site, node), /-netdev stream,/);
  await carriedBy(site, link, 'fabric');
  assert.match(site.server.log(), reason);
}

test('without /dev/net/tun machines have streams, and the log says what would help', { skip, timeout: limitMs }, () =>
  withSite({ launcher: ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs tmpfs /dev/net && exec "$@"', 'sh'] }, (site) =>
    assertStreams(site, /slower: .*\/dev\/net\/tun/),
  ),
);

test('interfaces that the kernel refuses leave the machine on streams', { skip, timeout: limitMs }, async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'refusing-ip-'));
  context.after(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755);
  const script = `#!/bin/sh\nsed -u 's/^tuntap add /tuntap refused /' | exec ${await findProgram('ip')} "$@"\n`;
  await writeFile(join(folder, 'ip'), script, { mode: 0o755 });
  await withSite({ env: { PATH: `${folder}:${process.env.PATH}` } }, (site) => assertStreams(site, /adapters of VM1 are slow: /));
});

test(
  'an interface that was deleted by hand is there again after the next start, and eight pairs start at once',
  {
    skip,
    timeout: limitMs,
  },
  () =>
    withSite({}, async (site) => {
      const { client, project, server } = site;
      const { nodes, link } = await startPair(site);
      await carriedBy(site, link, 'kernel');
      const [one] = nodes as [NodeBody];
      const name = /ifname=(pbv\w+)/.exec(await lineOf(site, one))?.[1] ?? '';
      const { pid } = JSON.parse(await readFile(join(server.runtimeDirectory, 'link-namespace.json'), 'utf8')) as { pid: number };
      const inside = (...command: string[]) =>
        runTool('nsenter', [`--net=/proc/${pid}/ns/net`, ...command], { timeoutMs: toolLimitMs });
      assert.equal((await inside('ip', 'link', 'delete', 'dev', name)).code, 0);
      const path = `${project.path}/nodes/${one.node_id}`;
      assert.equal((await client.get<NodeBody & { status: string }>(path)).status, 'started');
      await client.post(`${path}/stop`, {}, 200);
      await client.post(`${path}/start`, {}, 200);
      await carriedBy(site, link, 'kernel');

      const pairs = 8;
      const more: NodeBody[] = [];
      for (let index = 0; index < 2 * pairs; index += 1)
        more.push(await createNode(client, project, 'qemu', { name: `N${index}`, properties: idleVm }));
      const links: string[] = [];
      for (let index = 0; index < pairs; index += 1) {
        const ends = more.slice(2 * index, 2 * index + 2).map((node) => end(node));
        const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: ends });
        links.push(`${project.path}/links/${link_id}`);
      }
      await client.post(`${project.path}/nodes/start`, {}, 204);
      for (const each of links) await carriedBy(site, each, 'kernel');
      await client.post(`${project.path}/nodes/stop`, {}, 204);
      const left = readdirSync(`/proc/${pid}/root/sys/class/net`).filter((each) => /^pb[vtw]/.test(each));
      assert.deepEqual(left, []);
    }),
);

test('where user namespaces are forbidden, machines of an ordinary user have streams', {
  skip: skip || ((await noOrdinaryUser()) ?? false),
  timeout: limitMs,
}, async () => {
  await using options = await userServer({ mayHaveNamespaces: false });
  await withSite(options, (site) => assertStreams(site, /slower: bubblewrap cannot be used: /));
});

test(
  'a fabric that is killed in the middle of switching leaves no rule that its link should not have',
  {
    skip,
    timeout: limitMs,
  },
  () =>
    withSite({}, async (site) => {
      const { client, server } = site;
      const { nodes, link } = await startPair(site);
      await carriedBy(site, link, 'kernel');
      const lines = await Promise.all(nodes.map((node) => lineOf(site, node)));
      const names = lines.map((line) => /ifname=(pbv\w+)/.exec(line)?.[1] ?? '');
      const rules = async (name: string) => {
        const { pid } = JSON.parse(await readFile(join(server.runtimeDirectory, 'link-namespace.json'), 'utf8')) as { pid: number };
        const words = [`--net=/proc/${pid}/ns/net`, 'tc', 'filter', 'show', 'dev', name, 'ingress'];
        const { stdout } = await runTool('nsenter', words, { timeoutMs: toolLimitMs });
        return new Set([...stdout.matchAll(/pref (\d)/g)].map(([, preference]) => Number(preference)));
      };
      const set = (filters: object) => client.send(`PUT ${link}`, { body: { filters } });
      for (let round = 0; round < 6; round += 1) {
        const log = await readFile(join(server.dataDir, 'state/fabric.log'), 'utf8');
        const pid = Number([...log.matchAll(/fabric (\d+) listens/g)].at(-1)?.[1]);
        const changes = [set({ delay: [1] }), set({}), set({ delay: [2] }), set({})];
        // Each time at another moment of the changes.
        await sleep(2 * round);
        process.kill(pid, 'SIGKILL');
        await Promise.all(changes);
        await waitFor(async () => (await set({ delay: [5] })).status === 201, { what: 'a fabric again', limitMs });
        await carriedBy(site, link, 'fabric');
        for (const name of names) assert.ok(!(await rules(name)).has(1), 'the fabric has each frame');
        await client.put(link, { filters: {} }, 201);
        await carriedBy(site, link, 'kernel');
        for (const name of names) assert.deepEqual(await rules(name), new Set([1, 2, 3]));
      }
    }),
);

/** A link namespace of a fabric of its own. */
async function ownNamespace(context: TestContext) {
  const { client, folder } = await startFabric(context);
  const settings = { runtimeDirectory: folder, Server: { run_as: '' }, Qemu: { sandbox: true } } as Settings;
  const fabric = { capabilities: () => client.capabilities(), useNamespace: (holder: number) => client.useNamespace(holder) };
  const messages: string[] = [];
  const links = new LinkNamespace(settings, fabric, (_level, message) => messages.push(message));
  context.after(() => links.close({ ends: true }));
  return { links, client, folder, messages };
}

test('a holder that ended and could not be replaced is replaced for the next machine', {
  skip,
  timeout: limitMs,
}, async (context) => {
  const { links, folder, messages } = await ownNamespace(context);
  assert.equal(await links.obstacle(), undefined);
  const network = await readlink(`/proc/${links.pid}/ns/net`);
  const { PATH } = process.env;
  try {
    // No other holder starts without the programs.
    process.env.PATH = folder;
    assert.ok(links.pid);
    process.kill(links.pid, 'SIGKILL');
    await waitFor(() => messages.some((message) => /cannot be made/.test(message)), { what: 'a holder that does not start' });
    process.env.PATH = PATH;
    assert.match((await links.ip.run(['link show'])).reason, /./, 'nothing runs in the network of the host meanwhile');
  } finally {
    process.env.PATH = PATH;
  }
  assert.equal(await links.obstacle(), undefined);
  assert.equal(await readlink(`/proc/${links.pid}/ns/net`), network, 'in the network that the server kept');
});

test('interfaces of a hundred machines are made at once, and the kernel carries their links', {
  skip,
  timeout: limitMs,
}, async (context) => {
  const { links, client } = await ownNamespace(context);
  assert.equal(await links.obstacle(), undefined);
  const one = { count: 1, uid: 0, kernelPath: true };
  const machines = await Promise.all(Array.from({ length: 100 }, () => makeMachineTaps(links, one)));
  const specs = Array.from({ length: 50 }, (_, index) => {
    const [a, b] = machines.slice(2 * index, 2 * index + 2).map(([port]) => port as TapPort);
    return linkOf(a as TapPort, b as TapPort, { id: `link${index}` });
  });
  assert.deepEqual(await client.apply(specs), []);
  const areCarried = async () => (await client.stats()).filter(({ carrier }) => carrier === 'kernel').length === specs.length;
  await waitFor(areCarried, { what: 'fifty links in the kernel', limitMs: 60_000 });
  await client.sync([]);
  await Promise.all(machines.map((ports) => removeMachineTaps(links, ports)));
  assert.deepEqual(
    (await links.interfaces()).filter((name) => name.startsWith('pb')),
    [],
  );
});
